import assert from 'node:assert/strict'
import { test } from 'node:test'
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
