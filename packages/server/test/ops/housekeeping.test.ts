// Housekeeping: on its own time, in small steps, and to an end when the service stops.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Log } from '@trunkline/core/ports/log'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { Housekeeping } from '../../src/ops/housekeeping.ts'

const DAY_MS = 24 * 3_600_000

/** A log of events known by nothing but their times, and what was asked of it. */
class Events {
  readonly steps: { readonly requested: number; readonly pruned: number; readonly atMs: number }[] = []
  readonly #clock: VirtualClock
  times: readonly Timestamp[]
  down = false

  constructor(clock: VirtualClock, times: readonly Timestamp[]) {
    this.#clock = clock
    this.times = times
  }

  async prune(before: Timestamp, limit: number): Promise<number> {
    if (this.down) throw new Error('the store is down')
    const gone = this.times.filter(at => at < before).slice(0, limit)
    this.times = this.times.slice(gone.length)
    this.steps.push({ requested: limit, pruned: gone.length, atMs: this.#clock.monotonicMs() })
    return gone.length
  }
}

function stage(ages: readonly number[], eventsDays: number) {
  const clock = new VirtualClock()
  const warnings: string[] = []
  const log: Log = { debug() {}, info() {}, warn: message => warnings.push(message), error() {} }
  const events = new Events(
    clock,
    ages.map(ms => timestampOfMs(epochMs(clock.now()) - ms))
  )
  const never = async () => 0
  const store = {
    audit: { seal: never },
    attempts: { prune: never },
    tokens: { prune: never },
    events,
    webhooks: { deliveries: { prune: never } }
  }
  const housekeeping = new Housekeeping({ store, clock, log }, eventsDays)
  return { clock, events, warnings, housekeeping }
}

test('events older than the days they are kept for go, and no others', async () => {
  const { clock, events, housekeeping } = stage([3.5 * DAY_MS, 3.01 * DAY_MS, 2.99 * DAY_MS, 0], 3)
  housekeeping.start()
  await clock.advance(60_000)
  assert.equal(events.times.length, 2)
  await clock.advance(0.02 * DAY_MS)
  assert.equal(events.times.length, 1)
  await housekeeping.stop()
})

test('many old events go in small steps with pauses between', async () => {
  const { clock, events, housekeeping } = stage(
    Array.from({ length: 2_300 }, () => 2 * DAY_MS),
    1
  )
  housekeeping.start()
  await clock.advance(70_000)
  const { steps } = events
  assert.deepEqual(
    steps.map(({ pruned }) => pruned),
    [500, 500, 500, 500, 300]
  )
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]
    if (before !== undefined) assert.ok(step.atMs > before.atMs, 'other callers of the database are served between two steps')
  }
  await housekeeping.stop()
})

test('a store that is down is asked again later', async () => {
  const { clock, events, warnings, housekeeping } = stage([2 * DAY_MS], 1)
  events.down = true
  housekeeping.start()
  await clock.advance(60_000)
  assert.deepEqual(warnings, ['housekeeping waits for the store'])
  events.down = false
  await clock.advance(60_000)
  assert.deepEqual(events.times, [])
  await housekeeping.stop()
})

test('a stop ends pruning after the present step', async () => {
  const { clock, events, housekeeping } = stage(
    Array.from({ length: 100_000 }, () => 2 * DAY_MS),
    1
  )
  housekeeping.start()
  await clock.advance(60_120)
  const pruned = events.steps.length
  assert.ok(pruned >= 2 && pruned < 10, `pruning is under way after ${pruned} steps`)
  await housekeeping.stop()
  await clock.advance(600_000)
  assert.equal(events.steps.length, pruned)
})

test('a clock that is set far forward makes nothing old; set right again nothing is missing', async () => {
  const { clock, events, housekeeping } = stage([1.5 * DAY_MS, 0], 2)
  housekeeping.start()
  clock.setWall(30 * DAY_MS)
  await clock.advance(120_000)
  assert.equal(events.times.length, 2)
  clock.setWall(-30 * DAY_MS)
  await clock.advance(0.6 * DAY_MS)
  assert.equal(events.times.length, 1)
  await housekeeping.stop()
})

test('of three nodes one does it, and another one once that one is gone', async () => {
  const clock = new VirtualClock()
  const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
  const never = async () => 0
  let first = 0
  const times = [0, 0, 0]
  const nodes = times.map((_, index) => {
    const seal = async () => {
      times[index] = (times[index] ?? 0) + 1
      return 0
    }
    const store = {
      audit: { seal },
      attempts: { prune: never },
      tokens: { prune: never },
      events: { prune: never },
      webhooks: { deliveries: { prune: never } }
    }
    return new Housekeeping({ store, clock, log }, 1, { isOurs: () => first === index, sweep: async () => undefined })
  })
  for (const node of nodes) node.start()
  await clock.advance(3_000)
  first = 2
  await clock.advance(2_000)
  assert.deepEqual(times, [3, 0, 2])
  for (const node of nodes) await node.stop()
})
