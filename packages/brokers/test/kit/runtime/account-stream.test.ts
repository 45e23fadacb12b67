import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { type AccountEvent, BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { AccountMessage } from '../../../src/kit/runtime/account-messages.ts'
import { AccountStream } from '../../../src/kit/runtime/account-stream.ts'
import type { WholeOrder } from '../../../src/kit/runtime/order-totals.ts'
import { OrderTracker } from '../../../src/kit/runtime/order-tracker.ts'
import type { StreamMessage } from '../../../src/kit/stream-protocol.ts'
import { UnknownValueCounter } from '../../../src/kit/unknown-values.ts'
import { VirtualClock } from '../../support/clocks.ts'
import { MemoryLog } from '../../support/log.ts'
import { MemoryMeter } from '../../support/meter.ts'

const NOW = parseTimestamp('2026-11-20T15:00:00Z', 'now')
const decimal = (text: string) => parseDecimal(text, 'test')
const never = () => Promise.reject(new BrokerFault('unreachable', 'no host is there'))

function order(status: OrderReport['status'], filled = '0', isUnresolved = false): WholeOrder {
  const report: OrderReport = {
    ...{ brokerAccountId: 'A', brokerOrderId: '1', brokerClOrdId: null, symbol: 'MSFT', instrument: 'STK', side: 'BUY', type: 'LMT' },
    ...{ tif: 'DAY', quantity: decimal('10'), notional: null, limitPrice: decimal('400'), stopPrice: null, legs: null },
    ...{ status, brokerStatus: status, brokerMessage: null, rejectCode: null, brokerOrderType: null, execDest: null },
    ...{ fills: null, filledTotal: { quantity: decimal(filled), averagePrice: null }, entryTime: NOW, updatedAt: NOW },
    ...{ replacesBrokerOrderId: null, replacedByBrokerOrderId: null }
  }
  return { report, isClosed: false, isUnresolved }
}

/** A connection that reads what the test puts into it: `received` holds what it published. */
async function connected(read: () => WholeOrder | null | Promise<never>) {
  const clock = new VirtualClock()
  const log = new MemoryLog()
  const unknownValues = new UnknownValueCounter({ broker: 'ACME', log, meter: new MemoryMeter() })
  const frames: AccountMessage[][] = []
  const definition = {
    begin: async () => ({
      ...{ url: 'wss://nowhere', hello: [], read: () => frames.shift() ?? [] },
      listed: { compareMs: 60_000, list: async () => [], order: async () => read() }
    }),
    ...{ orderSpacingMs: 1_000, accountSpacingMs: 1_000 }
  }
  const login = { tracker: new OrderTracker(), unknownValues, clock, log, orders: { ordersOf: never } }
  const protocol = await new AccountStream(definition, login, { positions: never, balances: never }).begin(soon())
  const received: StreamMessage<AccountEvent>[] = []
  protocol.opened?.({ send: () => undefined, emit: message => received.push(message), signal: soon() })
  return {
    received,
    orders: () => received.flatMap(message => (message.type === 'event' && message.event.type === 'order' ? [message.event.report] : [])),
    receive(...messages: readonly AccountMessage[]): void {
      frames.push([...messages])
      received.push(...protocol.onFrame('frame'))
    },
    [Symbol.asyncDispose]: async () => protocol.ended?.()
  }
}

const LIVE = { type: 'live', heartbeatMs: 10_000 } as const

test('a refused cancel that comes in a message to be read again releases the order', async () => {
  await using stream = await connected(() => order('working'))
  stream.receive(LIVE, { type: 'order_totals', order: order('pending_cancel') })
  stream.receive({ type: 'order_totals', order: order('working', '0', true) })
  await until(() => stream.orders().length === 2, 'the order was read')
  assert.deepEqual(
    stream.orders().map(({ status, releases }) => [status, releases]),
    [
      ['pending_cancel', undefined],
      ['working', true]
    ]
  )
})

test('a read that is older than what was sent is a gap, and is not published', async () => {
  await using stream = await connected(() => order('partially_filled', '2'))
  stream.receive(LIVE, { type: 'order_totals', order: order('partially_filled', '6', true) })
  await until(() => stream.received.some(({ type }) => type === 'gap'), 'the gap was published')
  assert.deepEqual(stream.orders(), [])
})

test('before a connection is live a failed read is no gap: everything is read then', async () => {
  let reads = 0
  await using stream = await connected(() => {
    reads += 1
    return never()
  })
  stream.receive({ type: 'order_hint', account: 'A', brokerOrderId: '1' })
  await until(() => reads === 1, 'the order was read')
  stream.receive(LIVE, { type: 'order_hint', account: 'A', brokerOrderId: '1' })
  await until(() => stream.received.length === 2, 'the second failure was published')
  assert.deepEqual(
    stream.received.map(({ type }) => type),
    ['live', 'gap']
  )
})
