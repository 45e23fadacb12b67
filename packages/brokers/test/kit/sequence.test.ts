import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Sequence } from '../../src/kit/sequence.ts'

test('in order they pass straight through, and duplicates are dropped', () => {
  const sequence = new Sequence<string>(10, 4)
  assert.deepEqual(sequence.offer(11, 'a'), { items: ['a'], hasGap: false })
  assert.deepEqual(sequence.offer(11, 'a'), { items: [], hasGap: false })
  assert.deepEqual(sequence.offer(9, 'z'), { items: [], hasGap: false })
  assert.deepEqual(sequence.offer(12, 'b'), { items: ['b'], hasGap: false })
  assert.equal(sequence.last, 12)
})

test('a small disorder is repaired silently', () => {
  const sequence = new Sequence<number>(0, 4)
  assert.deepEqual(
    [3, 2, 2, 1, 4].map(number => sequence.offer(number, number)),
    [
      { items: [], hasGap: false },
      { items: [], hasGap: false },
      { items: [], hasGap: false },
      { items: [1, 2, 3], hasGap: false },
      { items: [4], hasGap: false }
    ]
  )
})

test('a gap is reported when too many wait, or when the other side says it has sent them all', () => {
  const full = new Sequence<number>(0, 2)
  full.offer(2, 2)
  full.offer(3, 3)
  assert.deepEqual(full.offer(5, 5), { items: [2, 3, 5], hasGap: true })
  assert.equal(full.last, 5)

  const settled = new Sequence<number>(0, 10)
  assert.deepEqual(settled.settle(0), { items: [], hasGap: false })
  assert.deepEqual(settled.settle(1), { items: [], hasGap: true })
  settled.offer(4, 4)
  assert.deepEqual(settled.settle(4), { items: [4], hasGap: true })
  assert.deepEqual(settled.offer(5, 5), { items: [5], hasGap: false })
})

test('whatever the order, the losses and the repeats: each at most once, ascending, and a loss never goes untold', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 80 }),
      fc.integer({ min: 0, max: 5 }),
      (count, offers, aheadMax) => {
        const sequence = new Sequence<number>(0, aheadMax)
        const released: number[] = []
        let gaps = 0
        for (const step of [
          ...offers.filter(number => number <= count).map(number => sequence.offer(number, number)),
          sequence.settle(count)
        ]) {
          released.push(...step.items)
          if (step.hasGap) gaps += 1
        }
        assert.deepEqual(
          released,
          [...new Set(released)].sort((a, b) => a - b)
        )
        if (released.length < count) assert.ok(gaps > 0)
        if (gaps === 0)
          assert.deepEqual(
            released,
            Array.from({ length: count }, (_, index) => index + 1)
          )
      }
    )
  )
})
