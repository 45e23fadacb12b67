// What a request placed at a node that gave no answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderRequest } from '@trunkline/core/app/orders/place-order'
import { placedOrder, TermsChanged } from '@trunkline/core/app/orders/placed-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { Bench } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'

test('an order that was stored minutes ago is found on the other side of midnight, and yesterday’s is not taken for it', async () => {
  await using bench = await Bench.open()
  await using world = await bench.world()
  const { caller, connection, account, accounts, deps } = world
  const { platform, user } = caller
  const order = make.order({ platform, user, connection, account, accounts })
  const stored = { ...order, tradingDay: make.day('2026-03-03'), entryTime: parseTimestamp('2026-03-04T04:59:59.000Z', 'time') }
  await bench.store.orders.record([make.created(stored)])
  const request: OrderRequest = { ...stored, clOrdId: parseClOrdId(stored.clOrdId), broker: connection.broker }
  const at = (time: string, wanted = request) =>
    placedOrder({ ...deps, clock: { ...deps.clock, now: () => parseTimestamp(time, 'time') } }, caller, wanted)
  // Midnight in New York is five o'clock.
  for (const time of ['2026-03-04T04:59:59.500Z', '2026-03-04T05:00:04.000Z', '2026-03-04T05:14:00.000Z'])
    assert.equal((await at(time))?.orderId, stored.orderId, time)
  for (const time of ['2026-03-04T05:16:00.000Z', '2026-03-04T14:30:00.000Z']) assert.equal(await at(time), null, time)
  assert.equal(await at('2026-03-04T05:00:04.000Z', { ...request, quantity: parseDecimal('11', 'quantity') }), null)
})

test('an order whose terms the broker has changed since may be this one or another: that is no proof that nothing was placed', async () => {
  await using bench = await Bench.open()
  await using world = await bench.world()
  const { caller, connection, account, accounts, deps } = world
  const { platform, user } = caller
  const order = make.order({ platform, user, connection, account, accounts })
  const stored = { ...order, tradingDay: make.day('2026-03-03'), entryTime: parseTimestamp('2026-03-04T04:59:59.000Z', 'time') }
  const changed = { ...stored, quantity: parseDecimal('9', 'quantity'), revision: 2 }
  await bench.store.orders.record([make.created(changed)])
  const request: OrderRequest = { ...stored, clOrdId: parseClOrdId(stored.clOrdId), broker: connection.broker }
  const at = (time: string, wanted = request) =>
    placedOrder({ ...deps, clock: { ...deps.clock, now: () => parseTimestamp(time, 'time') } }, caller, wanted)
  for (const time of ['2026-03-04T04:59:59.500Z', '2026-03-04T05:00:04.000Z']) await assert.rejects(at(time), TermsChanged, time)
  assert.equal(await at('2026-03-04T05:16:00.000Z'), null)
  assert.equal(await at('2026-03-04T05:00:04.000Z', { ...request, side: request.side === 'BUY' ? 'SELL' : 'BUY' }), null)
})
