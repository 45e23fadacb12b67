// Previews: the checks of an order, the broker's own messages and numbers, and never an order.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { placeOrder } from '@trunkline/core/app/orders/place-order'
import { type PreviewRequest, previewOrder } from '@trunkline/core/app/orders/preview-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { type ErrorCode, ServiceError } from '@trunkline/core/domain/errors'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const decimal = (text: string) => parseDecimal(text, 'test')

function requestOf(world: World, change: Partial<PreviewRequest>): PreviewRequest {
  return {
    ...{ side: 'BUY', type: 'LMT', tif: 'DAY', symbol: 'SPY', instrument: 'STK', notional: null, stopPrice: null, legs: null },
    ...{ accountId: world.account.accountId, broker: world.connection.broker, quantity: decimal('10'), limitPrice: decimal('10.00') },
    ...change
  }
}

function preview(world: World, change: Partial<PreviewRequest> = {}) {
  return world.given(previewOrder(world.app, world.caller, requestOf(world, change)))
}

function isCode(code: ErrorCode, pattern = /./): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, pattern)
    return true
  }
}

/** Nothing was sent as an order, nothing is stored, nothing was published. */
async function isUntouched(world: World): Promise<void> {
  assert.deepEqual(world.broker.commands, [])
  assert.deepEqual(await world.orders(), [])
  assert.deepEqual(await world.events(), [])
}

test('an estimate is the broker’s; nothing is stored, sent or published', async () => {
  await using world = await bench.world()
  const { preview: seen, account } = await preview(world)
  assert.deepEqual([seen, account.accountId], [world.broker.previewed, world.account.accountId])
  assert.equal(world.broker.reads.preview, 1)
  await isUntouched(world)
})

test('a refusal of the broker is an answer, with its message and ours', async () => {
  await using world = await bench.world()
  world.broker.previewed = { kind: 'refused', message: 'Too dear.', rejectCode: 'insufficient_funds', brokerStatus: 'X1' }
  assert.deepEqual((await preview(world)).preview, world.broker.previewed)
  await isUntouched(world)
})

test('a preview is refused for every reason for which an order is refused before it is sent', async () => {
  await using world = await bench.world()
  for (const [change, code] of [
    [{ tif: 'IOC' }, 'order_not_supported'],
    [{ type: 'STP', limitPrice: null, stopPrice: decimal('9') }, 'order_not_supported'],
    [{ quantity: decimal('0') }, 'field_invalid'],
    [{ quantity: null }, 'field_invalid'],
    [{ limitPrice: null }, 'field_invalid'],
    [{ side: 'BUY_TO_OPEN' }, 'field_invalid']
  ] as const) {
    await assert.rejects(preview(world, change), isCode(code))
    const order = { ...requestOf(world, change), clOrdId: parseClOrdId('the-same') }
    await assert.rejects(world.given(placeOrder(world.app, world.caller, order)), isCode(code))
  }
  assert.equal(world.broker.reads.preview, 0)
  await isUntouched(world)
})

test('a broker without previews gets no request', async () => {
  await using world = await bench.world({ capabilities: { orderPreview: false } })
  await assert.rejects(preview(world), isCode('preview_unsupported', /GET \/brokers/))
  assert.equal(world.broker.reads.preview, 0)
})

test('a preview without an answer ends after five seconds, is not requested again, and is not an order', async () => {
  await using world = await bench.world()
  for (const plan of [
    { hangs: 'deadline' },
    { hangs: 'for_ever' },
    { fault: 'unreachable' },
    { fault: 'malformed' },
    { fault: 'rate_limited' }
  ] as const) {
    const startMs = world.clock.monotonicMs()
    world.broker.reads.preview = 0
    world.broker.readPlan = () => plan
    const why = 'fault' in plan && plan.fault === 'rate_limited' ? /rate limit .* Nothing was placed/ : /no preview .* Nothing was placed/
    await assert.rejects(preview(world), isCode('broker_unavailable', why))
    assert.ok(world.clock.monotonicMs() - startMs <= 6_000, JSON.stringify(plan))
    await world.clock.advance(120_000)
    assert.equal(world.broker.reads.preview, 1, JSON.stringify(plan))
  }
  await isUntouched(world)
})

test('an order instead of an estimate raises an alarm: an error that names it, a log line, a count', async () => {
  await using world = await bench.world()
  world.broker.previewed = 'placed'
  await assert.rejects(preview(world), isCode('internal', /GET \/orders/))
  const [order] = world.ledger.list()
  assert.ok(order !== undefined)
  await assert.rejects(preview(world), isCode('internal', new RegExp(world.ledger.list()[1]?.brokerOrderId ?? '')))
  const alarms = world.logged.filter(({ level, message }) => level === 'error' && message.startsWith('ALARM'))
  assert.deepEqual(
    alarms.map(({ fields }) => fields.brokerOrderId),
    world.ledger.list().map(({ brokerOrderId }) => brokerOrderId)
  )
  assert.equal(world.counted.get(`order_previews_total ${world.connection.broker} placed`), 2)
})

test('a login that the broker ended breaks the connection, as with every request', async () => {
  await using world = await bench.world()
  world.broker.rejects = new BrokerFault('credentials_rejected', 'the login has ended')
  await assert.rejects(preview(world), error => error instanceof BrokerFault && error.kind === 'credentials_rejected')
  assert.equal((await world.watched.store.connections.find(world.connection.connectionId))?.status, 'BROKEN')
})
