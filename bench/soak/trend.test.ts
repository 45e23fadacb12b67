import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chance } from '../../packages/testkit/src/crash/index.ts'
import type { Reading } from './sampler.ts'
import { trendOf } from './trend.ts'
import { verdictOf } from './verdict.ts'

const MEGABYTE = 1024 * 1024
const COUNT = 120
const EVERY_MS = 5_000

/** Ten minutes of readings whose memory and descriptors follow a rule, with noise. */
function readings(chance: Chance, memory: (share: number) => number, descriptors: (share: number) => number): readonly Reading[] {
  return Array.from({ length: COUNT }, (_, index) => {
    const share = index / (COUNT - 1)
    // Occasionally, a collection comes late.
    const noise = 2 * MEGABYTE * chance.fraction() + (chance.happens(0.05) ? 30 * MEGABYTE : 0)
    const heldBytes = 60 * MEGABYTE + memory(share) * MEGABYTE + noise
    return {
      atMs: index * EVERY_MS,
      rssBytes: 300 * MEGABYTE + heldBytes,
      heldBytes,
      descriptors: Math.round(100 + descriptors(share) + 4 * chance.fraction()),
      loopMs: 12,
      orders: index,
      updates: index,
      delayMs: { median: 3, p99: 9 }
    }
  })
}

test('noise, outliers and a warm-up in the first half are flat for every seed', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const warm = readings(
      new Chance(seed),
      share => 40 * Math.min(1, 3 * share),
      share => 20 * Math.min(1, 3 * share)
    )
    assert.ok(verdictOf(warm).isFlat, `seed ${seed}: ${verdictOf(warm).lines.join('\n')}`)
  }
})

test('a continuing leak of memory or of descriptors is not flat for any seed', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const leaking = readings(
      new Chance(seed),
      share => 20 * share,
      () => 0
    )
    assert.ok(!verdictOf(leaking).isFlat, `seed ${seed}: memory`)
    const opening = readings(
      new Chance(seed),
      () => 0,
      share => 40 * share
    )
    assert.ok(!verdictOf(opening).isFlat, `seed ${seed}: descriptors`)
  }
})

test('descriptors that fall for a while and come back are flat for every seed', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const dropped = readings(
      new Chance(seed),
      () => 0,
      share => (share < 0.45 ? 120 : Math.min(120, 240 * (share - 0.45)))
    )
    assert.ok(verdictOf(dropped).isFlat, `seed ${seed}: ${verdictOf(dropped).lines.join('\n')}`)
  }
})

test('the rise is that of the second half, and outliers do not change it', () => {
  const samples = Array.from({ length: 20 }, (_, index) => ({ atMs: index, value: index < 10 ? 5 * index : 50 + index }))
  const spiked = samples.map(sample => (sample.atMs === 15 ? { ...sample, value: 1_000 } : sample))
  for (const series of [samples, spiked]) assert.equal(Math.round(trendOf(series, 0, 0).rise), 9)
})

test('too few samples give no verdict', () => {
  assert.throws(() => trendOf([{ atMs: 0, value: 1 }], 0, 0), RangeError)
})
