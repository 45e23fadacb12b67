// What a message of the positions stream costs, and what several rows of one symbol come to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountEvent } from '@trunkline/core/ports/broker'
import { KnownAccounts } from '../../src/kit/runtime/known-accounts.ts'
import type { StreamMessage } from '../../src/kit/stream-protocol.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { PositionsProtocol } from '../../src/tradestation/positions-stream.ts'
import { settled, VirtualClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { ACCOUNT, type Json } from './fixtures.ts'

const MANY = 2_000

async function opened(greeting: readonly Json[]) {
  const [clock, log] = [new VirtualClock(), new MemoryLog()]
  const account = {
    brokerAccountId: ACCOUNT,
    accountNumber: ACCOUNT,
    institutionName: 'TradeStation',
    accountType: 'margin',
    currency: 'USD',
    name: null
  } as const
  const accountState = new KnownAccounts({ read: async () => ({ known: [], leftOut: [] }), streamedMax: 25, log })
  accountState.update({ known: [account], leftOut: [] })
  const unknownValues = new UnknownValueCounter({ broker: 'TRADESTATION', log, meter: new MemoryMeter() })
  const protocol = new PositionsProtocol({ clock, log, unknownValues, accountState, heartbeatMs: 5_000 })
  const messages: StreamMessage<AccountEvent>[] = []
  const send = (...lines: readonly Json[]) => {
    for (const line of lines) messages.push(...protocol.onFrame(JSON.stringify(line)))
  }
  send(...greeting, { StreamStatus: 'EndSnapshot' })
  await protocol.maintain({
    send: () => assert.fail('nothing is sent'),
    emit: message => messages.push(message),
    signal: new AbortController().signal
  })
  const lists = () =>
    messages.flatMap(message => (message.type === 'event' && message.event.type === 'positions' ? [message.event.positions.items] : []))
  return { protocol, clock, messages, send, lists, [Symbol.asyncDispose]: () => protocol.ended() }
}

function position(id: string, symbol: string, quantity: string, more: Json = {}): Json {
  return { AccountID: ACCOUNT, AssetType: 'STOCK', Symbol: symbol, Quantity: quantity, PositionID: id, LongShort: 'Long', ...more }
}

const all = (quantity: string) => Array.from({ length: MANY }, (_, index) => position(`p${index}`, `S${index}`, quantity))

test('a burst of changes costs one list and not one a message, and what follows within a moment one more', async () => {
  await using stage = await opened(all('1'))
  assert.deepEqual(stage.lists(), [], 'what was there is read by the reader')
  stage.send(...all('2'))
  await settled()
  assert.equal(stage.lists().length, 1)
  assert.ok(stage.lists()[0]?.length === MANY && stage.lists()[0]?.every(({ quantity }) => quantity === '2'))
  for (const quantity of ['3', '4', '5']) {
    stage.send(...all(quantity))
    await settled()
  }
  assert.equal(stage.lists().length, 1)
  await stage.clock.advance(250)
  await settled()
  assert.equal(stage.lists().length, 2)
  assert.ok(stage.lists()[1]?.every(({ quantity }) => quantity === '5'))
})

test('a change is sent at once, a closed position is gone, and a mere change of value waits for its interval', async () => {
  await using stage = await opened([position('1', 'MSFT', '3'), position('2', 'F', '4')])
  stage.send({ PositionID: '2', Deleted: true }, { PositionID: 'unknown', Deleted: true })
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol }) => symbol)),
    [['MSFT']]
  )
  await stage.clock.advance(250)
  stage.send(position('1', 'MSFT', '3', { Last: '400' }))
  await settled()
  assert.equal(stage.lists().length, 1)
  await stage.protocol.maintain({ send() {}, emit: message => stage.messages.push(message), signal: new AbortController().signal })
  await settled()
  assert.equal(stage.lists().at(-1)?.[0]?.lastPrice, '400')
})

test('rows of one symbol are one position; a long and a short row end the stream', async () => {
  await using stage = await opened([])
  stage.send(position('1', 'MSFT', '3', { AveragePrice: '10' }), position('2', 'MSFT', '1', { AveragePrice: '20' }))
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol, quantity, averagePrice }) => [symbol, quantity, averagePrice])),
    [[['MSFT', '4', '12.5']]]
  )
  await stage.clock.advance(250)
  stage.send(position('3', 'MSFT', '-1', { LongShort: 'Short' }))
  await settled()
  const last = stage.messages.at(-1)
  assert.ok(last?.type === 'over' && last.cause === 'malformed', JSON.stringify(last))
})
