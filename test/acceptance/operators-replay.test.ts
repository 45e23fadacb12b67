// Replays of orders in the sandbox, from outside: the broker's recorded answer and fills come again, and both orders are linked.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { link } from './linking.ts'
import { Stage, type Trader } from './stream-stage.ts'

const ABSENT = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
const LIMIT = { order_type: 'LMT', order_tif: 'DAY', order_qty: '10', order_limit_price: '100.05' }

describe('replays of orders in the sandbox', () => {
  const ajv = new Ajv({ strict: false, allErrors: true })
  let stage: Stage
  let trader: Trader
  let keys: Readonly<Record<'read' | 'sandbox', string>>
  before(async () => {
    stage = await Stage.open('embedded')
    trader = await stage.trader()
    const keyWith = async (scope: string): Promise<string> =>
      (await stage.operate('operator', 'key', 'create', '--name', scope, '--scope', scope)).key
    keys = { read: await keyWith('read'), sandbox: await keyWith('sandbox') }
    addFormats.default(ajv)
    ajv.addFormat('decimal', /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)
    ajv.addSchema({ $id: 'api', components: (await call('GET', '/openapi.json')).body.components })
  })
  // Prices pause on this stage, so each test begins with a book of its own.
  beforeEach(() => stage.quote([['99.99', '1000000']], [['100.01', '1000000']]))
  after(() => stage[Symbol.asyncDispose]())

  async function call(method: string, path: string, key = keys?.read ?? '') {
    const response = await fetch(`${stage.service.url}/admin/v1${path}`, { method, headers: { authorization: `Bearer ${key}` } })
    return { status: response.status, body: (await response.json()) as Body }
  }

  async function replayed({ order_id }: Body): Promise<Body> {
    const { status, body } = await call('POST', `/orders/${order_id}/replay`, keys.sandbox)
    assert.equal(status, 201, JSON.stringify(body))
    const fits = ajv.compile({ $ref: 'api#/components/schemas/OrderReplay' })
    const isFit: boolean = fits(body)
    assert.ok(isFit, JSON.stringify(fits.errors))
    assert.notEqual(body.order.user_id, trader.userId)
    return body
  }

  const stepsOf = async (orderId: string): Promise<readonly Body[]> => (await call('GET', `/orders/${orderId}/steps`)).body.data
  const replaysOf = async (orderId: string): Promise<readonly Body[]> => (await call('GET', `/orders/${orderId}/steps`)).body.replays
  const partsOf = ({ not_repeated: left }: Body): readonly string[] => left.map(({ part }: Body) => part)
  const fillsOf = ({ fills }: Body): readonly string[] => fills.map(({ quantity, price }: Body) => `${quantity} at ${price}`).toSorted()

  test('partial fills at two prices, and the cancel that was requested, come again', async () => {
    await stage.quote(
      [['99.99', '1000000']],
      [
        ['100.01', '3'],
        ['100.02', '2']
      ]
    )
    const placed = await trader.place(LIMIT)
    await trader.cancel(placed)
    const original = (await call('GET', `/orders/${placed.order_id}`)).body
    assert.deepEqual([original.normalized_status, original.filled_qty], ['cancelled', '5'])
    await stage.quote([['50.00', '1000000']], [['50.01', '1000000']])
    const { order, ...answer } = await replayed(placed)
    assert.deepEqual([order.normalized_status, order.filled_qty], ['cancelled', '5'])
    assert.deepEqual(fillsOf(order), fillsOf(original))
    const shown = (await stage.control('GET', '/market/AAPL')).quote
    assert.deepEqual([shown.bid, shown.ask], ['50', '50.01'], 'the prices are as before')
    assert.ok(partsOf(answer).includes('market'), 'they paused already')
    assert.ok(!partsOf(answer).includes('outcome'))
    assert.ok(
      (await stepsOf(order.order_id)).some(({ action }) => action === 'order.cancel'),
      'cancelled by the service'
    )
  })

  test('the two are linked by their steps, and who did it is on record', async () => {
    const placed = await trader.buy()
    const { order } = await replayed(placed)
    const ofOriginal = await replaysOf(placed.order_id)
    const asked = ofOriginal.find(({ action }) => action === 'order.replay')
    assert.deepEqual([asked?.actor, asked?.detail_cl_order_id], ['operator', order.cl_order_id])
    assert.match(asked?.detail_by, /key sandbox/)
    assert.equal(ofOriginal.find(({ action }) => action === 'order.replayed')?.detail_replay_order_id, order.order_id)
    const back = (await replaysOf(order.order_id)).filter(({ action }) => action === 'order.replay_of')
    assert.deepEqual(
      back.map(({ detail_original_order_id: original }) => original),
      [placed.order_id, placed.order_id]
    )
    assert.match(back[1]?.detail_not_repeated, /other money/)
    assert.ok(back[0]?.at <= order.entry_time, 'one that is killed in between has said what its order is')
    for (const each of [placed, order])
      assert.ok((await stepsOf(each.order_id)).every(({ action }) => !String(action).startsWith('order.replay')))
    const platforms: readonly Body[] = (await call('GET', '/platforms')).body.data
    assert.deepEqual(
      platforms.filter(({ is_for_replays }) => is_for_replays).map(({ name, platform_id }) => [name, platform_id]),
      [['Replays in the sandbox (practice)', order.platform_id]]
    )
    assert.ok(platforms.length > 1)
    assert.deepEqual((await stage.control('GET', '/faults')).items, [])
  })

  test('a refusal comes again with its message', async () => {
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'refuse', message: 'Not on a Tuesday.', times: 1 })
    const placed = await trader.buy()
    assert.equal(placed.normalized_status, 'rejected')
    const { order } = await replayed(placed)
    assert.deepEqual([order.normalized_status, order.broker_message], ['rejected', placed.broker_message])
    assert.equal(order.submission.state, 'refused')
    assert.equal((await replayed(order)).order.broker_message, placed.broker_message)
  })

  test('an order that was taken and rejected later is rejected later again, with its message', async () => {
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'refuse_later', message: 'Not after all.', times: 1 })
    const placed = await trader.place({ ...LIMIT, order_limit_price: '41.25' })
    const original = async (): Promise<Body> => (await call('GET', `/orders/${placed.order_id}`)).body
    await until(async () => (await original()).normalized_status === 'rejected', 'the original is rejected')
    const { order, ...answer } = await replayed(placed)
    assert.deepEqual([order.normalized_status, order.broker_message], ['rejected', (await original()).broker_message])
    assert.ok(!partsOf(answer).includes('outcome'))
  })

  test('an order that works is cancelled at the end of its replay, which says so', async () => {
    const placed = await trader.place({ ...LIMIT, order_limit_price: '41.25' })
    assert.equal(placed.normalized_status, 'working')
    const { order, ...answer } = await replayed(placed)
    assert.equal(order.normalized_status, 'cancelled')
    assert.ok(!partsOf(answer).includes('outcome'))
    const [end] = answer.not_repeated.filter(({ part }: Body) => part === 'end')
    assert.match(end?.why, /^The order was working at the end of the replay, and was cancelled then/)
    await trader.cancel(placed)
  })

  test('a lost answer is lost again, and the order is found by a read', async () => {
    const reads = ['lookup', 'snapshot', 'recovery']
    const order = async (id: string): Promise<Body> => (await call('GET', `/orders/${id}`)).body
    const found = async (id: string): Promise<string> => {
      await until(async () => (await order(id)).normalized_status === 'filled', `the order ${id} is found`)
      return (await order(id)).submission.method
    }
    /** Requests to place an order of which the sandbox answered none. */
    const lost = async () => (await stage.control('GET', '/counters')).operations['orders.submit'].answers.none ?? 0
    // The practice user's stream is to be open before: one that opens later is not silent.
    await replayed(await trader.buy())
    const before = await lost()
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'lose_answer', times: 1 })
    await stage.control('POST', '/streams', { do: 'mute' })
    const placed = await trader.buy()
    assert.ok(reads.includes(await found(placed.order_id)), 'no stream had the original')
    await stage.control('POST', '/streams', { do: 'mute' })
    const again = (await replayed(placed)).order
    assert.ok(reads.includes(await found(again.order_id)))
    assert.equal((await lost()) - before, 2)
    await stage.control('POST', '/streams', { do: 'normal' })
  })

  test('an order at an emulated broker is repeated there', async () => {
    const { login } = await stage.control('POST', '/logins', { username: 'elsewhere', accounts: [{ kind: 'margin', cash: '1000000' }] })
    const user = await stage.api.user('elsewhere')
    await link(stage.api, user, 'trade', login, 'TRADIER')
    const headers = stage.api.as(user)
    const { body: accounts } = await stage.api.call('GET', '/accounts', { headers })
    const ticket = {
      ...{ account_id: accounts[0].account_id, broker: 'TRADIER', cl_order_id: 'elsewhere-1', symbol: 'AAPL', side: 'BUY' },
      ...{ order_type: 'LMT', order_tif: 'DAY', order_qty: '3', order_limit_price: '41.25' }
    }
    const { body: placed } = await stage.api.call('POST', '/orders', { headers, body: ticket })
    const isWorking = async () => (await call('GET', `/orders/${placed.order_id}`)).body.normalized_status === 'working'
    await until(isWorking, 'the broker has the order')
    const answer = await replayed(placed)
    assert.deepEqual([answer.order.broker, answer.order.normalized_status, answer.order.filled_qty], ['TRADIER', 'cancelled', '0'])
    assert.ok(!partsOf(answer).includes('broker') && !partsOf(answer).includes('outcome'))
  })

  test('nothing is placed for an order that does not exist, or while another replay runs', async () => {
    assert.equal((await call('POST', `/orders/${ABSENT}/replay`, keys.sandbox)).body.code, 'order_not_found')
    assert.equal((await call('POST', `/orders/${ABSENT}/replay`, keys.read)).body.code, 'scope_missing')
    const placed = await trader.buy()
    const both = await Promise.all([1, 2].map(() => call('POST', `/orders/${placed.order_id}/replay`, keys.sandbox)))
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 429])
  })

  test('after a reset of the sandbox, a new practice user has the replays', async () => {
    const placed = await trader.buy()
    const before = await replayed(placed)
    await stage.control('POST', '/reset', {})
    await stage.control('PUT', '/market', { paused: true })
    const { order } = await replayed(placed)
    assert.deepEqual([order.normalized_status, order.filled_qty], ['filled', '1'])
    assert.notEqual(order.user_id, before.order.user_id)
  })
})
