import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setBounded } from '../../src/app/bounded-map.ts'

test('a full map evicts its oldest key, also when keys are renewed, removed and cleared in between', () => {
  const map = new Map<number, number>()
  // The same, by the slowest and plainest means.
  let expected: number[] = []
  for (let step = 0; step < 5_000; step += 1) {
    const key = (step * 7_919) % (step % 3 === 0 ? 50 : 400)
    setBounded(map, key, step, 100)
    expected = [...expected.filter(known => known !== key), key].slice(-100)
    if (step % 11 === 0) {
      map.delete(expected[3] ?? -1)
      expected = expected.filter((_, index) => index !== 3)
    }
    if (step % 1_234 === 1_233) {
      map.clear()
      expected = []
    }
    assert.deepEqual([...map.keys()], expected, `step ${step}`)
  }
})

test('a map of one keeps the newest key', () => {
  const map = new Map<string, number>()
  for (const key of ['a', 'b', 'b', 'c']) setBounded(map, key, 1, 1)
  assert.deepEqual([...map.keys()], ['c'])
})

test('a map that evicted once keeps no values that were replaced since', async () => {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  const map = new Map<number, object>()
  for (let key = 0; key <= 100; key += 1) setBounded(map, key, {}, 100)
  // Room for one: nothing is evicted from here on.
  map.delete(100)
  const given: WeakRef<object>[] = []
  for (let step = 0; step < 10_000; step += 1) {
    const value = {}
    given.push(new WeakRef(value))
    setBounded(map, 1 + (step % 99), value, 100)
  }
  // A reference that was made in this turn of the event loop holds its target.
  await new Promise(resolve => setImmediate(resolve))
  collect()
  const kept = given.filter(value => value.deref() !== undefined).length
  assert.equal(kept, map.size)
})
