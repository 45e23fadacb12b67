import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoSlot, SessionSlots } from '../../../src/stream/market/session-slots.ts'

const LIMITS = { total: 100, perUser: 5, perAddress: 30, platformPercent: 50 }

/** How many of `wanted` sessions a platform gets, each of another user and address. */
function taken(slots: SessionSlots<string>, platformId: string, wanted: number): number {
  let count = 0
  for (let index = 0; index < wanted; index++) {
    try {
      slots.take(`${platformId}-${index}`, { platformId, address: `10.${platformId.length}.${index}.1` }, 0)
      count += 1
    } catch (cause) {
      assert.ok(cause instanceof NoSlot)
    }
  }
  return count
}

test('one user, and one address, have so many sessions and no more', () => {
  const slots = new SessionSlots<string>(LIMITS)
  assert.throws(() => slots.take('x', { platformId: 'p', address: '192.0.2.1' }, 5), /This user has 5 sessions/)
  for (let index = 0; index < 30; index++) slots.take(`s${index}`, { platformId: `p${index % 3}`, address: '192.0.2.1' }, 0)
  assert.throws(() => slots.take('y', { platformId: 'p', address: '192.0.2.1' }, 0), /30 sessions from this address/)
  slots.take('y', { platformId: 'p', address: '192.0.2.2' }, 0)
  slots.release('s0')
  slots.release('s0')
  slots.take('z', { platformId: 'p', address: '192.0.2.1' }, 0)
  assert.equal(slots.size, 31)
})

test('one platform takes half, two take four fifths, and a third still gets its share', () => {
  const slots = new SessionSlots<string>(LIMITS)
  assert.equal(taken(slots, 'a', 1_000), 50)
  // Beyond 80 only those below an equal share get more: of two, that is half.
  assert.equal(taken(slots, 'bb', 40), 40)
  assert.equal(taken(slots, 'ccc', 1_000), 10)
  assert.equal(slots.size, 100)
})

test('what is reserved is not for those that have their share already', () => {
  const slots = new SessionSlots<string>({ ...LIMITS, platformPercent: 100 })
  assert.equal(taken(slots, 'a', 30), 30)
  assert.equal(taken(slots, 'bb', 30), 30)
  assert.equal(taken(slots, 'ccc', 1_000), 34)
  assert.equal(taken(slots, 'dddd', 1_000), 6)
})
