import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterOf, EVENTS_MAX, emptyLog, matching, missingText, type UserEvent, type UserEvents, withPage } from '../src/event-log.ts'

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
  assert.deepEqual([log.after, log.lastSeq, log.missing, log.dropped], [5, 5, [], 0])
})

test('a wait without updates leaves the place in the log', () => {
  const log = withPage(withPage(emptyLog(7), page(8, 8)), { data: [], oldest_seq: 1, last_seq: 8 })
  assert.deepEqual([log.after, log.events.length], [8, 1])
})

test('updates that are no longer kept are named, not passed over', () => {
  const log = withPage(emptyLog(0), page(11, 12, { oldest: 11 }))
  assert.deepEqual(log.missing, [[1, 10]])
  assert.deepEqual(withPage(log, page(13, 13, { oldest: 11 })).missing, [[1, 10]])
  assert.deepEqual(withPage(emptyLog(10), page(11, 12, { oldest: 11 })).missing, [])
})

test('an update of the list is never among those that are missing', () => {
  const log = withPage(withPage(emptyLog(0), page(5, 6, { oldest: 5 })), page(10, 10, { oldest: 10 }))
  assert.deepEqual(log.missing, [
    [1, 4],
    [7, 9]
  ])
  assert.equal(missingText(log.missing), '1 to 4, 7 to 9')
  const nothing = { data: [], oldest_seq: 13, last_seq: 12 }
  assert.deepEqual(withPage(withPage(log, nothing), page(14, 14, { oldest: 14 })).missing.at(-1), [11, 13])
})

test('of many ranges the newest are named, and the others counted', () => {
  const ranges = [1, 3, 5, 7, 9, 11, 13].map(seq => [seq, seq] as const)
  assert.equal(missingText(ranges.slice(0, 6)), 'of 1 older range, and 3, 5, 7, 9, 11')
  assert.equal(missingText(ranges), 'of 2 older ranges, and 5, 7, 9, 11, 13')
})

test('where nothing is kept at all, the feed goes on after what is missing', () => {
  const log = withPage(emptyLog(2), { data: [], oldest_seq: 11, last_seq: 10 })
  assert.deepEqual([log.after, log.missing], [10, [[3, 10]]])
})

test('at the bound the oldest leave, and are counted', () => {
  const log = withPage(withPage(emptyLog(0), page(1, EVENTS_MAX)), page(EVENTS_MAX + 1, EVENTS_MAX + 3))
  assert.equal(log.events.length, EVENTS_MAX)
  assert.equal(log.events[0]?.seq, 4)
  assert.equal(log.dropped, 3)
  const gap = withPage(withPage(emptyLog(0), page(3, 4, { oldest: 3 })), page(7, EVENTS_MAX + 4, { oldest: 7 }))
  assert.deepEqual(
    [gap.dropped, gap.missing],
    [
      0,
      [
        [1, 2],
        [5, 6]
      ]
    ]
  )
  assert.deepEqual(withPage(gap, page(EVENTS_MAX + 5, EVENTS_MAX + 6)).missing, [[5, 6]])
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
