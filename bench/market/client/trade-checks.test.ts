// The checks behind the throughput figures: they find trades that are missing, doubled, out of order, altered or of another subscription.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trades } from '../sandbox/trades.ts'
import { TradeChecks } from './trade-checks.ts'

const SYMBOLS = ['SPY', 'AAPL', 'KO']
const SUB_IDS = new Map([
  [4, 0],
  [7, 1],
  [12, 2]
])
const COUNT = 3_000
const trades = new Trades(SYMBOLS, 1_763_735_400_123_456)

function updateOf(number: number): string {
  const subId = [...SUB_IDS.keys()][number % SYMBOLS.length]
  return JSON.stringify({ ...trades.update(number), sub_id: String(subId) })
}

/** Puts foreign bytes before and after each, as in a socket's buffer. */
function checked(updates: readonly string[]): { readonly checks: TradeChecks; readonly received: readonly number[] } {
  const received: number[] = []
  const checks = new TradeChecks(trades, SUB_IDS, number => received.push(number))
  for (const update of updates) {
    const bytes = Buffer.from(`xx${update}"ts":"9999999999999999999","sub_id":"4"}`)
    assert.ok(TradeChecks.isTrade(bytes, 2))
    checks.receive(bytes, 2, 2 + update.length)
  }
  return { checks, received }
}

const inOrder = Array.from({ length: COUNT }, (_, number) => updateOf(number))

test('trades that arrive as they were sent have no fault', () => {
  const { checks, received } = checked(inOrder)
  assert.deepEqual([checks.faults, checks.first, checks.count], [0, null, COUNT])
  assert.deepEqual(
    received,
    Array.from({ length: COUNT }, (_, number) => number)
  )
})

for (const [name, updates] of Object.entries({
  missing: inOrder.toSpliced(1_000, 1),
  doubled: inOrder.toSpliced(1_000, 0, updateOf(1_000)),
  'out of order': inOrder.with(1_000, updateOf(1_003)).with(1_003, updateOf(1_000)),
  'of another subscription': inOrder.with(1_000, updateOf(1_000).replace(/"sub_id":"\d+"/, '"sub_id":"12"')),
  'of no subscription': inOrder.with(1_000, updateOf(1_000).replace(/"sub_id":"\d+"/, '"sub_id":"5"')),
  altered: inOrder.with(997, updateOf(997).replace(/"s":"\d+"/, '"s":"1000"'))
})) {
  test(`a trade that is ${name} is a fault`, () => {
    const { checks } = checked(updates)
    assert.ok(checks.faults > 0)
    assert.match(checks.first ?? '', /expected/)
  })
}

test('other messages are not taken for trades', () => {
  for (const text of ['{"type":"auth_success"}', '{"bp":"1","bs":"2"}', '{"o":"1"}'])
    assert.equal(TradeChecks.isTrade(Buffer.from(text), 0), false)
})
