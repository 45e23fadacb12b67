// What a message of the positions stream costs, and what several rows of one symbol come to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountEvent } from '@trunkline/core/ports/broker'
import type { Heard } from '../../src/kit/conversation.ts'
import { Words } from '../../src/kit/words.ts'
import { AccountBook } from '../../src/tradestation/account-book.ts'
import { PositionsTalk } from '../../src/tradestation/positions-stream.ts'
import { settled, VirtualClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { ACCOUNT, type Json } from './fixtures.ts'

const MANY = 2_000

async function talking(greeting: readonly Json[]) {
  const [clock, log] = [new VirtualClock(), new MemoryLog()]
  const account = {
    brokerAccountId: ACCOUNT,
    accountNumber: ACCOUNT,
    institutionName: 'TradeStation',
    accountType: 'margin',
    currency: 'USD',
    name: null
  } as const
  const book = new AccountBook(async () => [], log)
  book.learnt([account])
  const words = new Words({ broker: 'TRADESTATION', log, meter: new MemoryMeter() })
  const talk = new PositionsTalk({ clock, log, words, book, heartbeatMs: 5_000 })
  const heard: Heard<AccountEvent>[] = []
  const say = (...lines: readonly Json[]) => {
    for (const line of lines) heard.push(...talk.hear(JSON.stringify(line)))
  }
  say(...greeting, { StreamStatus: 'EndSnapshot' })
  await talk.tend({ say: () => assert.fail('nothing is sent'), tell: told => heard.push(told), signal: new AbortController().signal })
  const lists = () => heard.flatMap(told => (told.type === 'event' && told.event.type === 'positions' ? [told.event.positions.items] : []))
  return { talk, clock, heard, say, lists, [Symbol.asyncDispose]: () => talk.ended() }
}

function position(id: string, symbol: string, quantity: string, more: Json = {}): Json {
  return { AccountID: ACCOUNT, AssetType: 'STOCK', Symbol: symbol, Quantity: quantity, PositionID: id, LongShort: 'Long', ...more }
}

const all = (quantity: string) => Array.from({ length: MANY }, (_, index) => position(`p${index}`, `S${index}`, quantity))

test('a burst of changes costs one list and not one a message, and what follows within a moment one more', async () => {
  await using stage = await talking(all('1'))
  assert.deepEqual(stage.lists(), [], 'what was there is read by whoever listens')
  stage.say(...all('2'))
  await settled()
  assert.equal(stage.lists().length, 1)
  assert.ok(stage.lists()[0]?.length === MANY && stage.lists()[0]?.every(({ quantity }) => quantity === '2'))
  for (const quantity of ['3', '4', '5']) {
    stage.say(...all(quantity))
    await settled()
  }
  assert.equal(stage.lists().length, 1)
  await stage.clock.advance(250)
  await settled()
  assert.equal(stage.lists().length, 2)
  assert.ok(stage.lists()[1]?.every(({ quantity }) => quantity === '5'))
})

test('a change is sent at once, a closed position is gone, and what is only worth something else waits for its turn', async () => {
  await using stage = await talking([position('1', 'MSFT', '3'), position('2', 'F', '4')])
  stage.say({ PositionID: '2', Deleted: true }, { PositionID: 'unknown', Deleted: true })
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol }) => symbol)),
    [['MSFT']]
  )
  await stage.clock.advance(250)
  stage.say(position('1', 'MSFT', '3', { Last: '400' }))
  await settled()
  assert.equal(stage.lists().length, 1)
  await stage.talk.tend({ say() {}, tell: told => stage.heard.push(told), signal: new AbortController().signal })
  await settled()
  assert.equal(stage.lists().at(-1)?.[0]?.lastPrice, '400')
})

test('rows of one symbol are one position; a long and a short row end the stream', async () => {
  await using stage = await talking([])
  stage.say(position('1', 'MSFT', '3', { AveragePrice: '10' }), position('2', 'MSFT', '1', { AveragePrice: '20' }))
  await settled()
  assert.deepEqual(
    stage.lists().map(items => items.map(({ symbol, quantity, averagePrice }) => [symbol, quantity, averagePrice])),
    [[['MSFT', '4', '12.5']]]
  )
  await stage.clock.advance(250)
  stage.say(position('3', 'MSFT', '-1', { LongShort: 'Short' }))
  await settled()
  const last = stage.heard.at(-1)
  assert.ok(last?.type === 'over' && last.cause === 'malformed', JSON.stringify(last))
})
