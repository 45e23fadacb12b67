// One user with four connections: whatever is done through one broker is seen through the others, by REST and on the stream alike.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Answer, Body, User } from './api.ts'
import type { Engine } from './harness.ts'
import { link } from './linking.ts'
import type { StreamClient } from './stream-client.ts'
import { assertLawful } from './stream-ledger.ts'
import { Stage } from './stream-stage.ts'

const BROKERS = ['SANDBOX', 'ALPACA', 'TRADIER', 'TRADESTATION'] as const
type Broker = (typeof BROKERS)[number]
/** An unnumbered stream's loss shows in the next snapshot. */
/** How the client order ids of our own begin. */
const OURS = 'four-'

describe('one user at four brokers', () => fourBrokers('embedded'))

function fourBrokers(engine: Engine): void {
  let stage: Stage
  let customer: Customer
  let watcher: StreamClient
  before(async () => {
    stage = await Stage.open(engine)
    customer = await Customer.of(stage)
    watcher = await stage.session(['all'])
    await watcher.follow(customer.user.userId)
  })
  after(async () => {
    await watcher?.close()
    await stage?.[Symbol.asyncDispose]()
  })

  test('all four are offered, each marked as for practice', async () => {
    const { body } = await stage.api.call('GET', '/brokers', { headers: stage.api.platform })
    assert.deepEqual(body.map(({ broker }: Body) => broker).toSorted(), BROKERS.toSorted())
    assert.deepEqual(new Set(body.map(({ environment }: Body) => environment)), new Set(['sandbox']))
  })

  test('the same account is seen through each, with the same money', async () => {
    const cash = await Promise.all(BROKERS.map(async broker => [broker, Number((await customer.balance(broker)).cash)]))
    for (const [broker, amount] of cash) assert.equal(amount, 10_000_000, String(broker))
  })

  test('an order is previewed by each that has previews, in its own numbers, and placed by none', async () => {
    const money = /^-?\d+\.\d{2,}$/
    for (const broker of BROKERS) {
      const { status, body } = await customer.preview(broker, { order_type: 'LMT', order_qty: '10', order_limit_price: '100.00' })
      if (broker === 'ALPACA') {
        assert.deepEqual([status, body.code], [400, 'preview_unsupported'])
        continue
      }
      assert.deepEqual([status, body.outcome, body.source, body.estimated_cost], [200, 'estimated', 'broker', '1000.00'], broker)
      assert.match(body.commission, money)
      // Two of the three say nothing of fees beside the commission, or of buying power: that is null, and never nothing.
      assert.equal(body.fees, broker === 'TRADESTATION' ? null : '0.00', broker)
      assert.equal(body.buying_power_change === null, broker !== 'SANDBOX', broker)
    }
    const dear = await customer.preview('SANDBOX', { order_type: 'LMT', order_qty: '90000000', order_limit_price: '100.00' })
    assert.deepEqual(
      [dear.status, dear.body.outcome, dear.body.reject_code, dear.body.estimated_cost],
      [200, 'refused', 'insufficient_funds', null]
    )
    const { body: brokers } = await stage.api.call('GET', '/brokers', { headers: stage.api.platform })
    assert.deepEqual(
      brokers.filter((one: Body) => !one.order_preview).map((one: Body) => one.broker),
      ['ALPACA']
    )
    assert.deepEqual((await stage.api.call('GET', '/orders', { headers: stage.api.as(customer.user) })).body.data, [])
  })

  test('a purchase through any of them is a position in all of them', async () => {
    const orders = await Promise.all(
      BROKERS.map((broker, index) => customer.place(broker, { order_type: 'MKT', order_qty: String(index + 1) }))
    )
    for (const { order_id } of orders) await customer.reaches(order_id, 'filled')
    for (const broker of BROKERS)
      await until(
        async () => Number((await customer.position(broker, 'AAPL'))?.quantity ?? 0) === 10,
        `${broker} shows all ten`,
        PATIENCE_MS
      )
    const shown = () => BROKERS.map(broker => Number(streamed(watcher).positions.get(`${customer.account(broker)} AAPL`)?.quantity ?? 0))
    await until(async () => shown().every(quantity => quantity === 10), `the stream shows all ten at each, was ${shown()}`, PATIENCE_MS)
    await sameMoney(customer)
  })

  test('an open order of one is an order of all, through its modification and to its end', async () => {
    for (const [index, broker] of BROKERS.entries()) {
      const [price, changed] = [`${40 + index}.25`, `${50 + index}.75`]
      const order = await customer.place(broker, { order_type: 'LMT', order_qty: '7', order_limit_price: price })
      await everywhere(customer, price, ['working'])
      const successor = await customer.modify(broker, order, { order_limit_price: changed })
      await everywhere(customer, changed, ['working'])
      await customer.reaches(order.order_id, 'replaced')
      await customer.cancel(broker, successor)
      await everywhere(customer, changed, ['cancelled'])
    }
  })

  test('an order that fills in parts is sent with the same total everywhere', async () => {
    for (const [index, broker] of BROKERS.entries()) {
      const price = `${60 + index}.50`
      await customer.place(broker, { order_type: 'LMT', order_qty: '9', order_limit_price: price })
      await everywhere(customer, price, ['working'])
      const brokersId = await customer.idElsewhere(price)
      await stage.control('POST', `/orders/${brokersId}/fill`, { quantity: '4' })
      await everywhere(customer, price, ['partially_filled'], 4)
      await stage.control('POST', `/orders/${brokersId}/fill`, { quantity: '5' })
      await everywhere(customer, price, ['filled'], 9)
    }
    await sameMoney(customer)
  })

  test('a modification after a part was filled keeps the total, again and again', async () => {
    for (const [index, broker] of BROKERS.entries()) {
      const price = `${80 + index}.50`
      let order = await customer.place(broker, { order_type: 'LMT', order_qty: '9', order_limit_price: price })
      await everywhere(customer, price, ['working'])
      let before = 0
      for (const [round, part] of [4, 2].entries()) {
        const present = order
        const at = Number(present.order_limit_price).toFixed(2)
        await stage.control('POST', `/orders/${await customer.idElsewhere(at)}/fill`, { quantity: String(part) })
        await until(
          async () => Number((await customer.order(present.order_id)).filled_qty) === part,
          `${broker}: ${part} are filled`,
          PATIENCE_MS
        )
        before += part
        order = await customer.modify(broker, present, { order_limit_price: `${84 + 4 * round + index}.50` })
        await customer.reaches(present.order_id, 'replaced')
        await customer.reaches(order.order_id, 'working')
        assert.equal(Number((await customer.order(order.order_id)).order_qty), 9, `${broker} after ${before} were filled`)
      }
      await stage.control('POST', `/orders/${await customer.idElsewhere(`${88 + index}.50`)}/fill`, { quantity: '3' })
      await customer.reaches(order.order_id, 'filled')
      const last = await customer.order(order.order_id)
      assert.deepEqual([Number(last.order_qty), Number(last.filled_qty)], [9, 3], broker)
      await until(
        async () => Number((await customer.position(broker, 'AAPL'))?.quantity) === 10 + 36 + 9 * (index + 1),
        `${broker} holds what was bought`,
        PATIENCE_MS
      )
    }
    await sameMoney(customer)
  })

  test('an answer that was lost changes nothing of that: the order is found again at each broker, once', async () => {
    for (const [index, broker] of BROKERS.entries()) {
      const price = `${70 + index}.50`
      await stage.control('POST', '/faults', { on: 'orders.submit', do: 'lose_answer', login: customer.username, times: 1 })
      const order = await customer.place(broker, { order_type: 'LMT', order_qty: '3', order_limit_price: price })
      await customer.reaches(order.order_id, 'working')
      await everywhere(customer, price, ['working'])
      await customer.cancel(broker, await customer.order(order.order_id))
      await everywhere(customer, price, ['cancelled'])
    }
  })

  test('a position that cannot be read stays at each of them, is counted, and does not hide the others', async () => {
    await stage.control('PUT', '/market/MSFT', { bids: [['99.00', '1000000']], asks: [['100.00', '1000000']] })
    const buy = async (broker: Broker, quantity: string) => {
      const order = await customer.place(broker, { symbol: 'MSFT', order_type: 'MKT', order_qty: quantity })
      await customer.reaches(order.order_id, 'filled')
    }
    const held = async (broker: Broker, symbol: string) => Number((await customer.position(broker, symbol))?.quantity ?? 0)
    const all = async (quantity: number) => {
      for (const broker of BROKERS)
        await until(async () => (await held(broker, 'MSFT')) === quantity, `${broker}: ${quantity} are held`, PATIENCE_MS)
    }
    // A stream may have sent the positions since, which it can read all the same; the next read counts again.
    const leftOut = async (records: number) => {
      let shown: readonly Body[] = []
      const isSo = async () => {
        await all(await held('SANDBOX', 'MSFT'))
        shown = await customer.connections()
        return shown.every(each => each.records_left_out === records && (each.records_left_out_at === null) === (records === 0))
      }
      await until(isSo, `${records} left out at each`, PATIENCE_MS).catch(cause => {
        throw new Error(shown.map(each => `${each.broker} ${each.records_left_out}`).join(', '), { cause })
      })
    }
    await buy('SANDBOX', '5')
    await all(5)
    const before = await Promise.all(BROKERS.map(broker => held(broker, 'AAPL')))
    assert.ok(before.every(quantity => quantity > 0))
    const from = watcher.updates.length
    await stage.control('POST', '/faults', { on: 'positions.list', do: 'spoil', record: 'AAPL', login: customer.username })
    await buy('SANDBOX', '1')
    await all(6)
    assert.deepEqual(await Promise.all(BROKERS.map(broker => held(broker, 'AAPL'))), before)
    await leftOut(1)
    for (const { broker, health } of await customer.connections())
      assert.ok(health === 'live' || health === 'polling', `${broker} is ${health}`)
    await stage.control('DELETE', '/faults')
    await buy('SANDBOX', '1')
    await all(7)
    await leftOut(0)
    assert.deepEqual(await Promise.all(BROKERS.map(broker => held(broker, 'AAPL'))), before)
    const sent = watcher.updates.slice(from).flatMap(({ message }) => (message.type === 'positions' ? message.data : []))
    assert.deepEqual(
      sent.filter(({ symbol, quantity }: Body) => symbol === 'AAPL' && Number(quantity) === 0),
      [],
      'it is never closed'
    )
  })

  test('what the stream sent adds up to what REST shows', async () => {
    const orders = await customer.orders()
    const streamedOrders = streamed(watcher).orders
    const behind = () => orders.filter(order => JSON.stringify(streamed(watcher).orders.get(order.order_id)) !== JSON.stringify(order))
    await until(async () => behind().length === 0, 'the stream has every order as REST shows it', PATIENCE_MS)
    assert.equal(streamedOrders.size, orders.length)
    assertLawful(watcher.of(customer.user.userId), 0)
  })
}

/** At each broker exactly one live or ended order has this price, and is in one of these statuses. */
async function everywhere(customer: Customer, price: string, statuses: readonly string[], filled = 0): Promise<void> {
  const found = async () => {
    const orders = (await customer.orders()).filter(
      order => Number(order.order_limit_price) === Number(price) && order.normalized_status !== 'replaced'
    )
    return BROKERS.map(broker =>
      orders
        .filter(order => order.broker === broker)
        .map(order => `${order.normalized_status} ${Number(order.filled_qty)}`)
        .join(' and ')
    )
  }
  let last: readonly string[] = []
  const isSo = async () => {
    last = await found()
    return last.every(expected => statuses.some(status => expected === `${status} ${filled}`))
  }
  await until(isSo, `the order at ${price} is ${statuses} at each broker`, PATIENCE_MS).catch(cause => {
    throw new Error(`the order at ${price} should be ${statuses} with ${filled} filled at ${BROKERS}, and is ${last.join(' | ')}`, {
      cause
    })
  })
}

async function sameMoney(customer: Customer): Promise<void> {
  const cash = async () => await Promise.all(BROKERS.map(async broker => Number((await customer.balance(broker)).cash)))
  let last: readonly number[] = []
  const isSame = async () => {
    last = await cash()
    return new Set(last).size === 1
  }
  await until(isSame, 'the same money is shown at each broker', PATIENCE_MS).catch(cause => {
    throw new Error(`the money differs: ${BROKERS.map((broker, index) => `${broker} ${last[index]}`)}`, { cause })
  })
}

/** What a client knows that applied every update. */
function streamed(client: StreamClient) {
  const orders = new Map<string, Body>()
  const positions = new Map<string, Body>()
  for (const { message } of client.updates) {
    if (message.type === 'orders') orders.set(message.data.order_id, message.data)
    if (message.type === 'positions') for (const record of message.data) positions.set(`${record.account_id} ${record.symbol}`, record)
  }
  return { orders, positions }
}

/** One customer at the sandbox, connected through every broker. */
class Customer {
  readonly user: User
  readonly username: string
  readonly #stage: Stage
  readonly #accounts: ReadonlyMap<Broker, string>
  #orders = 0

  private constructor(stage: Stage, user: User, username: string, accounts: ReadonlyMap<Broker, string>) {
    this.#stage = stage
    this.user = user
    this.username = username
    this.#accounts = accounts
  }

  static async of(stage: Stage): Promise<Customer> {
    const user = await stage.api.user('everywhere')
    const { login } = await stage.control('POST', '/logins', { username: 'everywhere', accounts: [{ kind: 'margin', cash: '10000000' }] })
    const accounts = new Map<Broker, string>()
    for (const broker of BROKERS) {
      const connectionId = await link(stage.api, user, 'trade', login, broker)
      const { body } = await stage.api.call('GET', `/accounts?connection_id=${connectionId}`, { headers: stage.api.as(user) })
      assert.equal(body.length, 1, `${broker} shows one account`)
      accounts.set(broker, body[0].account_id)
    }
    return new Customer(stage, user, login.username, accounts)
  }

  account(broker: Broker): string {
    return this.#accounts.get(broker) ?? assert.fail(broker)
  }

  async place(broker: Broker, change: Body): Promise<Body> {
    const ticket = { account_id: this.account(broker), broker, side: 'BUY', symbol: 'AAPL', order_tif: 'DAY', cl_order_id: this.#name() }
    const answer = await this.#call('POST', '/orders', { ...ticket, ...change })
    assert.equal(answer.status, 201, answer.text)
    assert.notEqual(answer.body.normalized_status, 'rejected', answer.text)
    return answer.body
  }

  preview(broker: Broker, change: Body): Promise<Answer> {
    const ticket = { account_id: this.account(broker), broker, side: 'BUY', symbol: 'AAPL', order_tif: 'DAY' }
    return this.#call('POST', '/orders/preview', { ...ticket, ...change })
  }

  async modify(broker: Broker, { order_id }: Body, change: Body): Promise<Body> {
    const path = `/accounts/${this.account(broker)}/orders/${order_id}`
    const answer = await this.#call('PATCH', path, { new_cl_order_id: this.#name(), broker, ...change })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  async cancel(broker: Broker, { order_id }: Body): Promise<void> {
    const answer = await this.#call('DELETE', `/accounts/${this.account(broker)}/orders/${order_id}`)
    assert.equal(answer.status, 200, answer.text)
  }

  async order(orderId: string): Promise<Body> {
    return (await this.orders()).find(({ order_id }) => order_id === orderId) ?? assert.fail(`no order ${orderId}`)
  }

  /** A broker's own id of the order at this price: what it is called where it was placed by another way. */
  async idElsewhere(price: string): Promise<string> {
    const adopted = (await this.orders()).find(
      ({ order_limit_price, cl_order_id }) => Number(order_limit_price) === Number(price) && !cl_order_id.startsWith(OURS)
    )
    // Two brokers may number alike, and a name is taken once.
    return adopted?.cl_order_id.replace(/@.*$/, '') ?? assert.fail(`nobody else shows the order at ${price}`)
  }

  async reaches(orderId: string, status: string): Promise<void> {
    let last = ''
    const isThere = async () => {
      last = (await this.order(orderId)).normalized_status
      return last === status
    }
    await until(isThere, `the order is ${status}`, PATIENCE_MS).catch(cause => {
      throw new Error(`order ${orderId} is ${last} and should be ${status}`, { cause })
    })
  }

  /** The newest 500. */
  async orders(): Promise<readonly Body[]> {
    return (await this.#call('GET', '/orders?limit=500')).body.data
  }

  async connections(): Promise<readonly Body[]> {
    return (await this.#call('GET', '/connections')).body
  }

  async balance(broker: Broker): Promise<Body> {
    const { body, text } = await this.#call('GET', `/balances?account_id=${this.account(broker)}`)
    assert.equal(body.length, 1, text)
    return body[0]
  }

  async position(broker: Broker, symbol: string): Promise<Body | undefined> {
    const { body } = await this.#call('GET', `/positions?account_id=${this.account(broker)}`)
    return body.find((record: Body) => record.symbol === symbol)
  }

  #call(method: string, address: string, body?: unknown): Promise<Answer> {
    return this.#stage.api.call(method, address, { headers: this.#stage.api.as(this.user), body })
  }

  #name(): string {
    this.#orders += 1
    return `${OURS}${this.#orders}`
  }
}
