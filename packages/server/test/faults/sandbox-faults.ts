// What the broker's answers can do: lost, late, wrong, refused, empty. Each under load, and each ended before the next.
import assert from 'node:assert/strict'
import { until } from '@trunkline/testkit/until'
import type { Fault, RestingOrder, Stage } from './stage.ts'

const SUBMIT = 'orders.submit'
/** Of the sandbox's lists. */
const PAGE = 500

/** Unreadable answers to a submit; the order was taken, or, with `after` false, was not. */
function answered(id: string, title: string, ...specs: readonly object[]): Fault {
  return {
    id,
    title,
    async play(stage) {
      await stage.injectFaults(...specs.map(spec => ({ on: SUBMIT, times: 3, ...spec })))
      await stage.trade()
    }
  }
}

/** A price at which every order of `resting` is filled. */
async function comeTo(stage: Stage, symbol: string, resting: readonly RestingOrder[]): Promise<void> {
  const price = Math.floor(Math.min(...resting.map(each => Number(each.price))) / 2)
  await stage.world.sandbox.control('PUT', `/market/${symbol}`, { price: `${price}.00` })
}

async function finalOf(stage: Stage, { user, order }: RestingOrder): Promise<{ readonly status: string; readonly filled: string }> {
  const known = stage.world.followers.get('steady')?.of(user.userId).orders.get(order.order_id)
  return { status: known?.normalized_status, filled: known?.filled_qty }
}

async function statusesOf(stage: Stage, resting: readonly RestingOrder[]): Promise<readonly string[]> {
  return (await Promise.all(resting.map(each => finalOf(stage, each)))).map(({ status }) => status)
}

export const ANSWERS: readonly Fault[] = [
  answered('F1', 'a submit is accepted and its answer dropped', { do: 'lose_answer', times: 12 }),
  answered('F2', 'a submit is reset before it is read', { do: 'reset', times: 6 }),
  answered(
    'F3',
    'the answer comes after ours, or after the command was given up, and the order lives at once',
    { do: 'delay', after: true, ms: 1_400, times: 8 },
    { do: 'delay', after: true, ms: 2_600, times: 4, skip: 4 }
  ),
  answered('F4', 'the order shows only some time after its answer was lost', { do: 'hide', ms: 1_000, times: 6 }),
  answered(
    'F6',
    'a refusal: as it should be, inside a success, and after acceptance',
    { do: 'refuse', message: 'Not today.' },
    { do: 'garbage', body: { error: { code: 'refused_by_operator', message: 'Not like this.', field: null } } },
    { do: 'refuse_later' }
  ),
  answered(
    'F7',
    'HTML, a truncated answer and an empty one, after the order was taken',
    { do: 'html', after: true },
    { do: 'truncate' },
    { do: 'garbage', after: true }
  ),
  answered(
    'F8',
    '502, 503 and 504 after the order was taken',
    { do: 'status', status: 502, after: true },
    { do: 'status', status: 503, after: true },
    { do: 'status', status: 504, after: true },
    { do: 'status', status: 503, times: 2 }
  ),
  {
    id: 'F9',
    title: '429 with Retry-After, for submits and for reads',
    async play(stage) {
      await stage.injectFaults(
        { on: SUBMIT, do: 'status', status: 429, retry_after: 1, times: 5 },
        { on: 'orders.list', do: 'status', status: 429, retry_after: 1, times: 5 }
      )
      await stage.streams({ do: 'drop' })
      await stage.trade()
    }
  },
  {
    id: 'F10',
    title: '401 once to every login in the middle of its session',
    async play(stage) {
      for (const { login } of stage.world.users)
        await stage.injectFaults({ on: '*', do: 'status', status: 401, times: 1, login: login.username })
      const before = await stage.world.sandbox.requests('token')
      await stage.trade()
      const logins = stage.world.users.length
      const refreshes = (await stage.world.sandbox.requests('token')) - before
      assert.ok(refreshes >= logins && refreshes <= 2 * logins, `${refreshes} refreshes for ${logins} logins`)
    }
  },
  {
    id: 'F12',
    title: 'fills are reported before the submit is answered',
    async play(stage) {
      await stage.injectFaults({ on: SUBMIT, do: 'delay', after: true, ms: 500, times: 25 })
      await stage.trade()
      const orders = stage.world.users.flatMap(({ userId }) => [...(stage.world.followers.get('steady')?.of(userId).orders.values() ?? [])])
      assert.ok(
        orders.some(order => order.submission.method === 'stream'),
        'no order was known by the stream before its answer came'
      )
    }
  },
  {
    id: 'F13',
    title: 'cancels cross the fills of their orders',
    async play(stage) {
      const resting = await stage.resting('F', 6, 5)
      await stage.injectFaults({ on: 'orders.cancel', do: 'slow', ms: 900 })
      await Promise.all(resting.map(({ user, order }) => user.cancel(order.order_id)))
      await comeTo(stage, 'F', resting)
      await stage.trade()
      await until(async () => (await statusesOf(stage, resting)).every(status => status === 'filled'), 'each is filled, and not cancelled')
    }
  },
  {
    id: 'F14',
    title: 'replaces cross whole and partial fills',
    async play(stage) {
      const resting = await stage.resting('IWM', 6, 10)
      await stage.injectFaults({ on: 'orders.amend', do: 'slow', ms: 900 })
      const successors = await Promise.all(resting.map(each => stage.modify(each, 15)))
      const [price] = resting.map(each => each.price)
      // Enough for the first order and two of the second.
      await stage.world.sandbox.control('PUT', '/market', { paused: true })
      await stage.world.sandbox.control('PUT', '/market/IWM', { bids: [['1.00', '5']], asks: [[price, '12']] })
      await stage.trade()
      const total = async () => {
        const olds = await Promise.all(resting.map(each => finalOf(stage, each)))
        const replacements = await Promise.all(
          resting.map((each, index) => finalOf(stage, { ...each, order: successors[index]?.body ?? each.order }))
        )
        return olds.map(({ filled }, index) => Number(filled) + Number(replacements[index]?.filled ?? 0))
      }
      await until(async () => (await total()).reduce((sum, filled) => sum + filled, 0) >= 12, 'what crossed is reported')
      assert.ok(
        (await total()).every(filled => filled <= 15),
        'never more than was wanted'
      )
    }
  },
  {
    id: 'F1, F8',
    title: 'amendments and cancels whose answers are lost, unreadable or 5xx after acting',
    async play(stage) {
      const resting = await stage.resting('QQQ', 9, 4)
      const answers = [{ do: 'lose_answer' }, { do: 'truncate' }, { do: 'status', status: 503, after: true }]
      await stage.injectFaults(
        ...answers.flatMap(answer => [
          { on: 'orders.amend', times: 1, ...answer },
          { on: 'orders.cancel', times: 1, ...answer }
        ])
      )
      const changes = resting.map((each, index) => (index % 3 === 0 ? each.user.cancel(each.order.order_id) : stage.modify(each, 6)))
      await Promise.all([...changes, stage.trade()])
    }
  },
  {
    id: 'F16',
    title: 'lists of orders come back empty with 200',
    async play(stage) {
      await stage.resting('SPY', 10, 3)
      await stage.injectFaults({ on: 'orders.list', do: 'empty', times: 60 })
      await stage.streams({ do: 'drop' })
      await stage.trade()
      await stage.struck()
      await stage.world.sandbox.control('DELETE', '/faults')
      // What was placed elsewhere meanwhile is in no list that came: the next true one has it, which a new stream begins with.
      await stage.streams({ do: 'drop' })
    }
  },
  {
    id: 'F17',
    title: 'position and balance reports fail, and are not read as flat',
    async play(stage) {
      const held = async () => {
        const reads = await Promise.all(stage.world.users.map(user => user.call('GET', '/positions')))
        return reads.map(({ status, body }) => [status, body.length > 0])
      }
      const before = await held()
      await stage.injectFaults({ on: 'positions.list', do: 'status', status: 500 }, { on: 'balances.list', do: 'html' })
      await stage.streams({ do: 'drop' })
      await stage.trade(2)
      assert.deepEqual(await held(), before)
    }
  },
  {
    id: 'F7, F16',
    title: 'every read answered with garbage, half of itself, or late',
    async play(stage) {
      await stage.injectFaults(
        { on: 'orders.list', do: 'truncate', times: 12 },
        { on: 'orders.list', do: 'garbage', times: 12 },
        { on: 'positions.list', do: 'html', times: 8 },
        { on: 'balances.list', do: 'delay', ms: 700, times: 12 }
      )
      await stage.streams({ do: 'drop' })
      await stage.trade()
    }
  },
  // The last one: it leaves hundreds of orders behind.
  {
    id: 'F16',
    title: 'a list of orders misses one of its pages',
    async play(stage) {
      await wideAccount(stage)
      await stage.accord.streamMatchesSandbox()
      await stage.injectFaults({ on: 'orders.list', do: 'lose_page' })
      await stage.streams({ do: 'drop' })
      await stage.trade()
    }
  }
]

/** More resting orders in one account than a page holds: placed at the sandbox, so that they must be found there. */
async function wideAccount({ world }: Stage): Promise<void> {
  const [user] = world.users
  assert.ok(user !== undefined)
  const [account] = user.login.accounts
  const limit = await world.sandbox.restingPrice(user.login, 'KO')
  const ticket = { account: account?.id, symbol: 'KO', direction: 'buy', kind: 'limit', lifetime: 'gtc', quantity: '1', limit }
  for (let number = 0; number <= PAGE; number += 1) {
    const { order } = await world.sandbox.control('POST', '/orders', { login: user.login.username, ...ticket })
    world.ledger.elsewhere.add(order.id)
  }
}
