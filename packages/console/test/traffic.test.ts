import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeOverview } from '../src/generated/admin.ts'
import { trafficOf } from '../src/traffic.ts'

const NOW = Date.parse('2026-11-27T14:07:00Z')
const node = (name: string, minutes: NodeOverview['minutes']): NodeOverview => ({
  ...{ node: name, version: null, started_at: null, health: null, reason: null, minutes }
})

test('requests and errors of all nodes are summed by quarters of an hour', () => {
  const { bars, requests, errors, absent } = trafficOf(
    [
      node('a', [
        { at: '2026-11-27T14:01:00Z', requests: 10, errors: { rate_limited: 2 } },
        { at: '2026-11-27T14:06:00Z', requests: 5, errors: {} },
        { at: '2026-11-27T13:59:00Z', requests: 1, errors: { internal: 1 } }
      ]),
      node('b', [{ at: '2026-11-27T14:01:00Z', requests: 4, errors: { rate_limited: 3, order_not_open: 1 } }])
    ],
    NOW
  )
  assert.equal(bars.length, 97)
  assert.deepEqual(bars.at(-1), { from: Date.parse('2026-11-27T14:00:00Z'), requests: 19, failed: 6 })
  assert.deepEqual(bars.at(-2), { from: Date.parse('2026-11-27T13:45:00Z'), requests: 1, failed: 1 })
  assert.equal(requests, 20)
  assert.deepEqual(errors, [
    ['rate_limited', 5],
    ['internal', 1],
    ['order_not_open', 1]
  ])
  assert.deepEqual(absent, [])
})

test('the sums are of 24 hours to the minute, and what is older is in none', () => {
  const counted = (at: string) => trafficOf([node('a', [{ at, requests: 9, errors: { internal: 9 } }])], NOW)
  const within = counted('2026-11-26T14:07:00Z')
  assert.deepEqual([within.requests, within.errors], [9, [['internal', 9]]])
  assert.deepEqual(within.bars[0], { from: Date.parse('2026-11-26T14:00:00Z'), requests: 9, failed: 9 })
  const older = counted('2026-11-26T14:06:00Z')
  assert.deepEqual([older.requests, older.errors], [0, []])
})

test('what a node with a faster clock counted is of the newest quarter, not lost', () => {
  const { bars, requests } = trafficOf([node('a', [{ at: '2026-11-27T14:27:00Z', requests: 9, errors: {} }])], NOW)
  assert.equal(requests, 9)
  assert.deepEqual(bars.at(-1), { from: Date.parse('2026-11-27T14:00:00Z'), requests: 9, failed: 0 })
})

test('a node that did not answer is named, since the sums lack it', () => {
  assert.deepEqual(trafficOf([node('a', null), node('b', [])], NOW).absent, ['a'])
})
