// What brokers and networks do to orders, without anybody dying: each fault on a login of its own, all at the same time.

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { CrashUser, OrderRecord } from '@trunkline/testkit/crash/index'
import { metricsPage } from '@trunkline/testkit/metrics'
import { everyNthTest } from '@trunkline/testkit/search'
import { until } from '@trunkline/testkit/until'
import { type Engine, Scene } from './scene.ts'

type Fields = Readonly<Record<string, unknown>>
const CONCURRENCY = 6
const TWINS = 50
/** When a command is given up, and answers before and after it. What is to happen meanwhile has until LATE_MS. */
const [LATE_MS, COMMAND_MS, TOO_LATE_MS, NEVER_MS] = [5_000, 6_000, 8_000, 3_600_000]

export function orderFaults(engine: Engine): void {
  let scene: Scene
  // What brokers do to orders is the same over either database.
  const test = everyNthTest(engine === 'embedded' ? 1 : 3)

  /** A user with a login of its own that has the given faults. */
  async function userWith(...faults: readonly Fields[]): Promise<CrashUser> {
    const user = await scene.user()
    for (const fault of faults) await scene.sandbox.fault({ login: user.login.username, ...fault })
    return user
  }

  async function resting(user: CrashUser, symbol = 'SPY'): Promise<Fields> {
    return { symbol, order_type: 'LMT', order_tif: 'GTC', order_limit_price: await scene.sandbox.restingPrice(user.login, symbol) }
  }

  /** An order that rests at the sandbox, known here as working. */
  async function working(user: CrashUser, name: string, symbol = 'SPY'): Promise<OrderRecord> {
    await user.place(name, await resting(user, symbol))
    const order = await scene.settled(user, name)
    assert.equal(order.normalized_status, 'working')
    return order
  }

  /** Ends the hiding of an order at the sandbox. */
  async function reveal(user: CrashUser, clOrdId: string): Promise<void> {
    const stored = await scene.service.order((await user.named(clOrdId))?.order_id)
    const { orders } = await scene.sandbox.control('GET', `/orders?client_order_id=${stored?.brokerClOrdId}`)
    await scene.sandbox.control('POST', `/orders/${orders[0].id}/reveal`)
  }

  async function stream(user: CrashUser, how: Fields): Promise<void> {
    await scene.sandbox.control('POST', '/streams', { login: user.login.username, ...how })
  }

  /** Places an order under a fault; gives what became of it. The sandbox made `accepted` orders of it. */
  async function outcome(fault: Fields, accepted: 0 | 1, answered: readonly number[] = [201]): Promise<OrderRecord> {
    const user = await userWith({ on: 'orders.submit', times: 1, ...fault })
    const answer = await user.place('o')
    assert.ok(answered.includes(answer.status), JSON.stringify(answer.body))
    const order = await scene.settled(user, 'o')
    assert.equal((await scene.ordersOf(order)).accepted, accepted)
    // A second order shows that the login is well, and a repetition that nothing was sent twice.
    assert.equal((await user.place('o')).status, 409)
    await user.place('o2')
    assert.equal((await scene.settled(user, 'o2')).normalized_status, 'filled')
    assert.equal((await scene.ordersOf(order)).accepted, accepted)
    return order
  }

  describe(`${engine}: orders under faults`, { concurrency: CONCURRENCY }, () => {
    before(async () => {
      scene = await Scene.open(engine, { TRUNKLINE_COMMAND_MS: String(COMMAND_MS) })
    })
    after(async () => await scene?.[Symbol.asyncDispose]())

    test('F1 accepted, answer dropped: adopted', async () => {
      const order = await outcome({ do: 'lose_answer' }, 1)
      assert.equal(order.normalized_status, 'filled')
      assert.equal(order.submission.state, 'acknowledged')
    })

    test('F2 reset before it was read: never received, never sent again', async () => {
      const order = await outcome({ do: 'reset' }, 0)
      assert.equal(order.submission.state, 'not_received')
      assert.match(order.broker_message, /never received/)
    })

    test('F3 the answer comes after ours: pending, then filled', async () => {
      const user = await userWith({ on: 'orders.submit', times: 1, do: 'delay', ms: LATE_MS })
      const { body } = await user.place('o')
      assert.equal(body.normalized_status, 'pending')
      assert.equal((await scene.settled(user, 'o')).normalized_status, 'filled')
    })

    test('F3 the answer comes after the command was given up', async () => {
      assert.equal((await outcome({ do: 'delay', ms: TOO_LATE_MS, after: true }, 1)).normalized_status, 'filled')
    })

    test('F4 an order that shows late is still looked for', async () => {
      const order = await outcome({ do: 'hide', ms: 1_200 }, 1)
      assert.equal(order.normalized_status, 'filled')
    })

    test('F5 an order that shows after it was given up is reported, with an alarm', async () => {
      const user = await userWith({ on: 'orders.submit', skip: 1, times: 1, do: 'hide', ms: NEVER_MS })
      await working(user, 'before')
      await user.place('o')
      await until(async () => (await user.named('o'))?.submission.state === 'not_received', 'the order is given up')
      await reveal(user, 'o')
      await until(async () => (await user.named('o'))?.filled_qty === '2', 'the order is seen, and its fills count')
      const order = await user.named('o')
      assert.equal(order.submission.state, 'acknowledged')
      const metrics = await metricsPage(user.url)
      assert.match(metrics, /order_alarms_total\{[^}]*late_fill[^}]*\} [1-9]/)
      assert.equal((await scene.ordersOf(order)).accepted, 1)
    })

    test('F5 an order that works after it was given up sets off an alarm', async () => {
      const user = await userWith({ on: 'orders.submit', skip: 1, times: 1, do: 'hide', ms: NEVER_MS })
      await working(user, 'before')
      await user.place('o', await resting(user))
      await until(async () => (await user.named('o'))?.submission.state === 'not_received', 'the order is given up')
      await reveal(user, 'o')
      await until(async () => (await user.named('o'))?.submission.state === 'acknowledged', 'the order is seen')
      assert.match(await metricsPage(user.url), /order_alarms_total\{[^}]*late_sighting[^}]*\} [1-9]/)
    })

    test('F6 a refusal with the broker’s message', async () => {
      const order = await outcome({ do: 'refuse', message: 'Not today.' }, 0)
      assert.deepEqual([order.submission.state, order.broker_message], ['refused', 'Not today.'])
    })

    test('F6 a refusal after acceptance', async () => {
      const user = await userWith({ on: 'orders.submit', times: 1, do: 'refuse_later', message: 'On second thoughts, no.' })
      await user.place('o', await resting(user))
      const order = await scene.settled(user, 'o')
      assert.equal(order.normalized_status, 'rejected')
      assert.match(order.broker_message, /second thoughts/)
    })

    for (const [name, fault] of Object.entries({
      'an HTML page with 200': { do: 'html' },
      'a truncated answer': { do: 'truncate' },
      'an empty 201': { do: 'garbage' },
      'a 201 with another order': { do: 'garbage', body: { order: { id: 'x', client_order_id: 'y' } } },
      'a 500': { do: 'status', status: 500 },
      'a 502 page': { do: 'html', status: 502 },
      'a 503': { do: 'status', status: 503 },
      'a 504': { do: 'status', status: 504 }
    })) {
      test(`F7, F8 ${name} after acting: adopted`, async () => {
        assert.equal((await outcome({ after: true, ...fault }, 1)).submission.state, 'acknowledged')
      })
    }

    test('a 503 without acting: never received', async () => {
      assert.equal((await outcome({ do: 'status', status: 503 }, 0)).submission.state, 'not_received')
    })

    test('F9, F10 a 429 and a 401 are refusals, and nothing is sent again', async () => {
      assert.equal((await outcome({ do: 'status', status: 429, retry_after: 1 }, 0)).submission.state, 'refused')
      assert.equal((await outcome({ do: 'status', status: 401 }, 0)).submission.state, 'refused')
    })

    test('fifty requests with one cl_order_id: one order, and 49 times its name', async () => {
      const user = await userWith()
      const answers = await Promise.all(Array.from({ length: TWINS }, () => user.place('twin')))
      const made = answers.filter(({ status }) => status === 201)
      assert.equal(made.length, 1)
      const refused = answers.filter(({ status }) => status === 409)
      assert.equal(refused.length, TWINS - 1)
      assert.ok(refused.every(({ body }) => body.message.includes(made[0]?.body.order_id)))
      assert.deepEqual(await scene.ordersOf(await scene.settled(user, 'twin')).then(({ accepted, received }) => ({ accepted, received })), {
        accepted: 1,
        received: 1
      })
    })

    test('the look-up fails for a while: unknown until it answers', async () => {
      const failing = ['orders.find', 'orders.get', 'orders.list', 'stream.connect'].map(on => ({
        on,
        do: 'status',
        status: 503,
        times: 12
      }))
      const user = await userWith({ on: 'orders.submit', times: 1, do: 'lose_answer' }, ...failing)
      await stream(user, { do: 'mute' })
      await user.place('o', await resting(user))
      await stream(user, { do: 'normal' })
      assert.equal((await scene.settled(user, 'o')).normalized_status, 'working')
    })

    cancels()
    replaces()
    streams()

    test('revoked credentials break the connection: no orders, and the last known records', async () => {
      const user = await userWith()
      const order = await working(user, 'o')
      await scene.sandbox.control('POST', `/logins/${user.login.username}/revoke`, {})
      const isBroken = async () => (await user.call('GET', '/connections')).body[0].status === 'BROKEN'
      await until(isBroken, 'the connection is broken')
      assert.equal((await user.place('o2')).status, 409)
      assert.equal((await user.modify(order.order_id, 'o3', { order_qty: '3' })).status, 409)
      assert.equal((await user.cancel(order.order_id)).status, 409)
      assert.equal((await user.named('o'))?.normalized_status, 'working')
      assert.equal(await user.named('o2'), null)
      assert.equal((await user.call('GET', '/balances')).status, 200)
    })
  })

  function cancels(): void {
    test('F13 a cancel crosses the fill: filled, and not cancelled too', async () => {
      const user = await userWith({ on: 'orders.cancel', do: 'slow', ms: NEVER_MS })
      const order = await working(user, 'o', 'KO')
      const [answer] = await Promise.all([user.cancel(order.order_id), fill('KO', order)])
      assert.equal(answer.status, 200)
      assert.equal((await scene.settled(user, 'o')).normalized_status, 'filled')
    })

    test('a cancel of what has been filled: the fill, or a 400 that says so', async () => {
      const user = await userWith()
      const { body } = await user.place('o')
      await scene.settled(user, 'o')
      const answer = await user.cancel(body.order_id)
      assert.equal(answer.status, 400)
      assert.match(answer.body.message, /filled/)
    })

    for (const [name, fault] of Object.entries({
      'its answer lost': { do: 'lose_answer' },
      'reset before it was read': { do: 'reset' },
      'an unreadable answer': { do: 'html', after: true },
      'answered late': { do: 'delay', ms: TOO_LATE_MS, after: true },
      'answered 503 before acting': { do: 'status', status: 503 }
    })) {
      test(`a cancel, ${name}: cancelled in the end`, async () => {
        const user = await userWith({ on: 'orders.cancel', times: 1, ...fault })
        const order = await working(user, 'o')
        const { status, body } = await user.cancel(order.order_id)
        assert.equal(status, 200)
        assert.ok(['pending_cancel', 'cancelled'].includes(body.normalized_status), body.normalized_status)
        assert.equal((await scene.settled(user, 'o')).normalized_status, 'cancelled')
      })
    }

    test('a cancel that is refused: the order works on', async () => {
      const user = await userWith({ on: 'orders.cancel', times: 1, do: 'refuse', message: 'It stays.' })
      const order = await working(user, 'o')
      const { body } = await user.cancel(order.order_id)
      assert.deepEqual([body.normalized_status, body.broker_message], ['working', 'It stays.'])
      await user.cancel(order.order_id)
      assert.equal((await scene.settled(user, 'o')).normalized_status, 'cancelled')
    })

    test('two cancels at once: one request to the broker', async () => {
      const user = await userWith({ on: 'orders.cancel', do: 'delay', ms: LATE_MS })
      const order = await working(user, 'o')
      const answers = await Promise.all([user.cancel(order.order_id), user.cancel(order.order_id)])
      assert.deepEqual(
        answers.map(({ status, body }) => [status, body.normalized_status]),
        [
          [200, 'pending_cancel'],
          [200, 'pending_cancel']
        ]
      )
      assert.equal((await scene.settled(user, 'o')).normalized_status, 'cancelled')
      const { items } = await scene.sandbox.control('GET', '/faults')
      const hits = items
        .filter(({ login, on }: Fields) => login === user.login.username && on === 'orders.cancel')
        .map(({ hits }: Fields) => hits)
      assert.deepEqual(hits, [1])
    })

    test('a cancel while the order is pending waits for it', async () => {
      const user = await userWith({ on: 'orders.submit', times: 1, do: 'delay', ms: LATE_MS })
      const { body } = await user.place('o', await resting(user))
      assert.equal(body.normalized_status, 'pending')
      const cancelled = await user.cancel(body.order_id)
      assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body))
      assert.equal((await user.modify(body.order_id, 'm', { order_qty: '3' })).status, 400)
      await until(async () => (await user.named('o'))?.normalized_status === 'cancelled', 'the cancel has gone out')
      await scene.settled(user, 'o')
    })

    test('a cancel of an order that the broker never received: nothing to cancel', async () => {
      const user = await userWith({ on: 'orders.submit', times: 1, do: 'reset' })
      const { body } = await user.place('o', await resting(user))
      assert.equal((await user.cancel(body.order_id)).status, 200)
      assert.equal((await scene.settled(user, 'o')).submission.state, 'not_received')
    })
  }

  function replaces(): void {
    /** Replaces a resting order under a fault; gives both orders once they rest. */
    async function replaced(fault: Fields): Promise<readonly [old: OrderRecord, next: OrderRecord]> {
      const user = await userWith({ on: 'orders.amend', times: 1, ...fault })
      const order = await working(user, 'old')
      const { status, body } = await user.modify(order.order_id, 'next', { order_qty: '3' })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.replaces_order_id, order.order_id)
      return [await scene.settled(user, 'old'), await scene.settled(user, 'next')]
    }

    for (const [name, fault] of Object.entries({
      'its answer lost': { do: 'lose_answer' },
      'an unreadable answer': { do: 'truncate' },
      'answered 502 after acting': { do: 'status', status: 502, after: true },
      'taken and carried out later': { do: 'slow', ms: 600 }
    })) {
      test(`a replace, ${name}: the new order works`, async () => {
        const [old, next] = await replaced(fault)
        assert.deepEqual([old.normalized_status, next.normalized_status, next.order_qty], ['replaced', 'working', '3'])
        assert.equal(old.replaced_by_order_id, next.order_id)
      })
    }

    for (const [name, fault, state] of [
      ['refused', { do: 'refuse', message: 'No changes.' }, 'refused'],
      ['reset before it was read', { do: 'reset' }, 'not_received'],
      ['answered 503 before acting', { do: 'status', status: 503 }, 'not_received']
    ] as const) {
      test(`a replace, ${name}: the old order works on`, async () => {
        const [old, next] = await replaced(fault)
        assert.deepEqual([old.normalized_status, next.normalized_status, next.submission.state], ['working', 'rejected', state])
        assert.equal(old.replaced_by_order_id, null)
      })
    }

    test('F14 a replace without an answer while the old order fills: one fill, and no new order', async () => {
      const user = await userWith({ on: 'orders.amend', times: 1, do: 'hang' })
      const order = await working(user, 'old', 'F')
      await Promise.all([user.modify(order.order_id, 'next', { order_qty: '3' }), fill('F', order)])
      const [old, next] = [await scene.settled(user, 'old'), await scene.settled(user, 'next')]
      assert.deepEqual([old.normalized_status, old.filled_qty], ['filled', '2'])
      assert.deepEqual([next.normalized_status, next.submission.state], ['rejected', 'not_received'])
    })

    test('a modify while another is pending: 400', async () => {
      const user = await userWith({ on: 'orders.amend', times: 1, do: 'delay', ms: LATE_MS })
      const order = await working(user, 'old')
      const first = user.modify(order.order_id, 'next', { order_qty: '3' })
      await until(async () => (await user.named('old'))?.normalized_status === 'pending_replace', 'the replace is pending')
      assert.equal((await user.modify(order.order_id, 'other', { order_qty: '4' })).status, 400)
      assert.equal((await first).status, 200)
      assert.equal((await scene.settled(user, 'next')).normalized_status, 'working')
      assert.equal(await user.named('other'), null)
    })
  }

  function streams(): void {
    for (const [name, how] of Object.entries({
      dropped: { do: 'drop' },
      'silent with an open socket': { do: 'mute', ms: 1_500 },
      'doubling every event': { do: 'duplicate' },
      'out of order': { do: 'reorder', window: 4 },
      'losing events': { do: 'lose', times: 3 },
      'speaking nonsense': { do: 'garble' },
      late: { do: 'delay', ms: 400 }
    })) {
      test(`F11, F18 a stream ${name}: every fill once, and the sandbox’s state`, async () => {
        const user = await userWith()
        const before = await working(user, 'resting')
        await stream(user, how)
        const names = ['a', 'b', 'c', 'd']
        await Promise.all(names.map(each => user.place(each)))
        const stored = await scene.service.order(before.order_id)
        await scene.sandbox.control('POST', `/orders/${stored?.brokerOrderId}/cancel`)
        assert.equal((await scene.settled(user, 'resting')).normalized_status, 'cancelled')
        for (const each of names) assert.equal((await scene.settled(user, each)).filled_qty, '2')
        await until(async () => (await user.call('GET', '/positions')).body[0]?.quantity === '8', 'the position is all fills together')
      })
    }

    test('orders placed at the sandbox itself appear, once each', async () => {
      const user = await userWith()
      await working(user, 'ours')
      const [account] = user.login.accounts
      const ticket = { account: account?.id, symbol: 'SPY', direction: 'buy', kind: 'market', lifetime: 'day', quantity: '1' }
      const placed = await Promise.all(
        Array.from({ length: 10 }, () => scene.sandbox.control('POST', '/orders', { login: user.login.username, ...ticket }))
      )
      for (const { order } of placed) {
        await until(async () => (await user.named(order.id))?.normalized_status === 'filled', 'the order appears, with its fill')
        assert.equal((await user.named(order.id))?.submission.state, 'external')
      }
    })
  }

  /** Lets the market come to the order's limit, once the request that crosses it is at the sandbox. */
  async function fill(symbol: string, order: OrderRecord): Promise<void> {
    await until(async () => !['working'].includes((await stateOf(order)) ?? 'working'), 'the request is at the sandbox').catch(
      () => undefined
    )
    const price = String(BigInt(order.order_limit_price.split('.')[0]) / 2n)
    await scene.sandbox.control('PUT', `/market/${symbol}`, { price: `${price}.00` })
  }

  async function stateOf(order: OrderRecord): Promise<string | undefined> {
    return (await scene.service.order(order.order_id))?.status
  }
}
