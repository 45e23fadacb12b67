// The wall clocks of nodes on machines whose clocks differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '@trunkline/core/ports/log'
import { SharedWallClock } from '../../src/cluster/shared-wall-clock.ts'

const DATABASE_MS = 1_800_000_000_000

/** A machine in a moment of time, whose clock is ahead of the database's. */
class Machine {
  readonly warnings: string[] = []
  /** By the monotonic clock. */
  nowMs = 50_000
  aheadMs: number
  correctionMs = 0
  readonly #shared: SharedWallClock

  constructor(aheadMs: number) {
    this.aheadMs = aheadMs
    const warn = (message: string) => void this.warnings.push(message)
    const log: Log = { debug() {}, info() {}, warn, error() {} }
    const clock = {
      machineMs: () => this.databaseMs + this.aheadMs,
      correctionMs: 0,
      keepWhenSet: () => undefined,
      correctBy: (ms: number) => {
        this.correctionMs = ms
        clock.correctionMs = ms
      }
    }
    this.#shared = new SharedWallClock(clock, () => this.nowMs, log)
  }

  get databaseMs(): number {
    return DATABASE_MS + this.nowMs
  }

  /** How far its corrected clock is ahead of the database's. */
  get errorMs(): number {
    return this.aheadMs + this.correctionMs
  }

  /** Reads the database's clock. `share`: when within the time of the reading it was looked at there. */
  read(tookMs: number, share = 0.5): void {
    const sentMs = this.nowMs
    const wallMs = this.databaseMs + share * tookMs
    this.nowMs += tookMs
    this.#shared.read(wallMs, sentMs, this.nowMs)
  }
}

test('a clock that is near the database’s is left alone', () => {
  for (const aheadMs of [0, 900, -900]) {
    const machine = new Machine(aheadMs)
    machine.read(20)
    assert.deepEqual([machine.correctionMs, machine.warnings.length], [0, 0])
  }
})

test('a clock that differs by minutes follows the database’s, and says so once', () => {
  for (const minutes of [10, -10]) {
    const machine = new Machine(minutes * 60_000)
    for (let reading = 0; reading < 3; reading += 1) machine.read(20)
    assert.equal(machine.errorMs, 0)
    assert.equal(machine.warnings.length, 1)
  }
})

test('a clock that is set right again is left alone again', () => {
  const machine = new Machine(300_000)
  machine.read(20)
  machine.aheadMs = 3
  machine.read(20)
  assert.equal(machine.correctionMs, 0)
})

test('the first reading counts however long it took, and is exact to half of that; later slow ones do not', () => {
  const machine = new Machine(300_000)
  machine.read(2_000, 1)
  assert.equal(machine.errorMs, 1_000)
  machine.read(20)
  assert.equal(machine.errorMs, 0)
  machine.read(2_000, 0)
  assert.equal(machine.errorMs, 0)
})

test('a correction does not follow every little difference of the readings', () => {
  const machine = new Machine(300_000)
  machine.read(20)
  machine.read(100, 1)
  assert.equal(machine.errorMs, 0)
})

test('a clock at the edge does not jump back and forth with the differences of the readings', () => {
  const machine = new Machine(1_000)
  const corrections = new Set<number>()
  for (let reading = 0; reading < 20; reading += 1) {
    machine.read(80, reading % 2)
    corrections.add(machine.correctionMs)
  }
  assert.deepEqual([corrections.size, machine.warnings.length], [1, 1])
})
