import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterOf, EVENTS_MAX, emptyLog, matching, type UserEvent, type UserEvents, withPage } from '../src/event-log.ts'

const event = (seq: number, data: unknown = {}, type = 'orders'): UserEvent => ({ seq, event_id: `event-${seq}`, type, data })
const page = (from: number, to: number, { oldest = 1, last = to } = {}): UserEvents => ({
  data: Array.from({ length: Math.max(to - from + 1, 0) }, (_, index) => event(from + index)),
  ...{ oldest_seq: oldest, last_seq: last }
})

test('updates are kept in order and once, also when a page is read twice', () => {
  const log = withPage(withPage(withPage(emptyLog(0), page(1, 3)), page(1, 3)), page(3, 5))
  assert.deepEqual(
    log.events.map(({ seq }) => seq),
    [1, 2, 3, 4, 5]
  )
  assert.deepEqual([log.after, log.lastSeq, log.missing, log.dropped], [5, 5, null, 0])
})

test('a wait without updates leaves the place in the log', () => {
  const log = withPage(withPage(emptyLog(7), page(8, 8)), { data: [], oldest_seq: 1, last_seq: 8 })
  assert.deepEqual([log.after, log.events.length], [8, 1])
})

test('updates that are no longer kept are named, not passed over', () => {
  const log = withPage(emptyLog(0), page(11, 12, { oldest: 11 }))
  assert.deepEqual(log.missing, [1, 10])
  assert.deepEqual(withPage(log, page(13, 13, { oldest: 11 })).missing, [1, 10])
  assert.equal(withPage(emptyLog(10), page(11, 12, { oldest: 11 })).missing, null)
})

test('where nothing is kept at all, the feed goes on after what is missing', () => {
  const log = withPage(emptyLog(2), { data: [], oldest_seq: 11, last_seq: 10 })
  assert.deepEqual([log.after, log.missing], [10, [3, 10]])
})

test('at the bound the oldest leave, and are counted', () => {
  const log = withPage(withPage(emptyLog(0), page(1, EVENTS_MAX)), page(EVENTS_MAX + 1, EVENTS_MAX + 3))
  assert.equal(log.events.length, EVENTS_MAX)
  assert.equal(log.events[0]?.seq, 4)
  assert.equal(log.dropped, 3)
})

test('updates are found by type and by a text anywhere in them', () => {
  const events = [event(1, { symbol: 'AAPL' }), event(2, { symbol: 'MSFT' }), event(3, { currency: 'USD' }, 'balances')]
  const seqs = (type: string, text: string) => matching(events, type, text).map(({ seq }) => seq)
  assert.deepEqual(seqs('', ''), [1, 2, 3])
  assert.deepEqual(seqs('orders', ''), [1, 2])
  assert.deepEqual(seqs('', ' aapl '), [1])
  assert.deepEqual(seqs('balances', 'aapl'), [])
})

test('a seq is a whole number, and anything else is refused, not read as the beginning', () => {
  assert.deepEqual([undefined, '', '0', '12'].map(afterOf), [0, 0, 0, 12])
  for (const text of ['-1', '1.5', '1e3', ' 1', 'x', '9'.repeat(16)]) assert.equal(afterOf(text), null, text)
})
