// What a message of a stream of positions costs, and what several rows of one symbol come to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { AccountEvent, PositionReport } from '@trunkline/core/ports/broker'
import { StreamedPositions } from '../../../src/kit/runtime/streamed-positions.ts'
import type { StreamMessage } from '../../../src/kit/stream-protocol.ts'
import { settled, VirtualClock } from '../../support/clocks.ts'

const MANY = 2_000

function streaming() {
  const clock = new VirtualClock()
  const messages: StreamMessage<AccountEvent>[] = []
  const read: string[] = []
  const positions = new StreamedPositions(clock, { emit: message => messages.push(message), read: account => read.push(account) })
  const lists = () =>
    messages.flatMap(message => (message.type === 'event' && message.event.type === 'positions' ? [message.event.positions.items] : []))
  const put = (...all: readonly PositionReport[]) => {
    for (const position of all) positions.put(String(position.brokerPositionId), position, true)
  }
  return { positions, clock, read, put, lists, [Symbol.asyncDispose]: () => positions[Symbol.asyncDispose]() }
}

const decimal = (text: string) => parseDecimal(text, 'test')

function position(id: string, symbol: string, quantity: string, more: Partial<PositionReport> = {}): PositionReport {
  return {
    ...{ brokerAccountId: 'A', symbol, instrument: 'STK', quantity: decimal(quantity), brokerPositionId: id },
    ...{ lastPrice: null, averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null },
    ...more
  }
}

const all = (quantity: string) => Array.from({ length: MANY }, (_, index) => position(`p${index}`, `S${index}`, quantity))

test('a burst of changes costs one list and not one a message, and what follows within a moment one more', async () => {
  await using stage = streaming()
  for (const each of all('1')) stage.positions.put(String(each.brokerPositionId), each, false)
  await settled()
  assert.deepEqual(stage.lists(), [], 'what was there is read by the reader')
  stage.put(...all('2'))
  await settled()
  assert.equal(stage.lists().length, 1)
  assert.ok(stage.lists()[0]?.length === MANY && stage.lists()[0]?.every(({ quantity }) => quantity === '2'))
  for (const quantity of ['3', '4', '5']) {
    stage.put(...all(quantity))
    await settled()
  }
  assert.equal(stage.lists().length, 1)
  await stage.clock.advance(250)
  await settled()
  assert.equal(stage.lists().length, 2)
  assert.ok(stage.lists()[1]?.every(({ quantity }) => quantity === '5'))
})

test('a change is sent at once, a closed position is gone, and a mere change of value waits for its interval', async () => {
  await using stage = streaming()
  for (const each of [position('1', 'MSFT', '3'), position('2', 'F', '4')]) stage.positions.put(String(each.brokerPositionId), each, false)
  stage.positions.close('2', true)
  stage.positions.close('unknown', true)
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol }) => symbol)),
    [['MSFT']]
  )
  await stage.clock.advance(250)
  stage.put(position('1', 'MSFT', '3', { lastPrice: decimal('399') }), position('1', 'MSFT', '3', { lastPrice: decimal('400') }))
  await settled()
  assert.equal(stage.lists().length, 1)
  await stage.clock.advance(5_000)
  await settled()
  assert.equal(stage.lists().length, 2)
  assert.equal(stage.lists().at(-1)?.[0]?.lastPrice, '400')
})

test('rows of one symbol are one position; with a long and a short row the positions are read', async () => {
  await using stage = streaming()
  stage.put(position('1', 'MSFT', '3', { averagePrice: decimal('10') }), position('2', 'MSFT', '1', { averagePrice: decimal('20') }))
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol, quantity, averagePrice }) => [symbol, quantity, averagePrice])),
    [[['MSFT', '4', '12.5']]]
  )
  await stage.clock.advance(250)
  stage.put(position('3', 'MSFT', '-1'))
  await settled()
  assert.deepEqual([stage.lists().length, stage.read], [1, ['A']])
})

test('while one of its positions cannot be read, the positions of an account are read; another account’s are not', async () => {
  await using stage = streaming()
  for (const each of [position('1', 'MSFT', '3'), position('2', 'F', '4')]) stage.positions.put(String(each.brokerPositionId), each, false)
  stage.positions.leaveOut('3', 'A', false)
  await settled()
  assert.deepEqual([stage.lists(), stage.read], [[], []], 'what was there is read by the reader')
  stage.put(position('1', 'MSFT', '4'), position('9', 'F', '1', { brokerAccountId: 'B' }))
  await settled()
  assert.deepEqual([stage.lists().map(items => items.map(({ symbol }) => symbol)), stage.read], [[['F']], ['A']])
  // One that was read before is not what it was.
  stage.positions.leaveOut('2', 'A', true)
  stage.positions.leaveOut('2', 'A', true)
  await stage.clock.advance(250)
  await settled()
  assert.deepEqual(stage.read, ['A', 'A'])
  stage.put(position('1', 'MSFT', '4', { lastPrice: decimal('400') }))
  await stage.clock.advance(10_000)
  await settled()
  assert.deepEqual(stage.read, ['A', 'A'], 'a change of value is not read')
  stage.positions.close('3', true)
  stage.put(position('2', 'F', '4'))
  await stage.clock.advance(250)
  await settled()
  assert.deepEqual(
    stage
      .lists()
      .at(-1)
      ?.map(({ symbol, quantity }) => [symbol, quantity]),
    [
      ['MSFT', '4'],
      ['F', '4']
    ]
  )
})
