// Facts within bounds: of number, and of time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap, TtlCache } from '../../src/kit/bounded-cache.ts'
import { VirtualClock } from '../support/clocks.ts'

test('at the bound the oldest entry is evicted', () => {
  const remembered = new BoundedMap<number>(2)
  for (const [key, fact] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4]
  ] as const)
    remembered.put(key, fact)
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => remembered.get(key)),
    [3, undefined, 4]
  )
})

test('an entry is valid for its time, also that there is none, and starts again when it is stored again', async () => {
  const clock = new VirtualClock()
  const recent = new TtlCache<string | null>({ clock, max: 2, forMs: 1_000 })
  recent.put('a', null)
  await clock.advance(600)
  recent.put('b', 'known')
  assert.equal(recent.get('a'), null)
  await clock.advance(400)
  assert.equal(recent.get('a'), undefined)
  recent.put('a', 'found')
  recent.put('c', 'known')
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => recent.get(key)),
    ['found', undefined, 'known']
  )
})
