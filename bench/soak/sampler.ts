import { readdirSync } from 'node:fs'
import type { World } from '../../packages/testkit/src/crash/index.ts'
import { metricsPage } from '../../packages/testkit/src/metrics.ts'
import { pause } from './disturbances.ts'
import { median } from './trend.ts'

/** The state of the service at one moment. Bytes and milliseconds. */
export interface Reading {
  readonly atMs: number
  readonly rssBytes: number
  /** Heap and external buffers, after garbage collection. */
  readonly heldBytes: number
  /** Open file descriptors, including sockets. */
  readonly descriptors: number
  /** 99th percentile of the event loop delay. */
  readonly loopMs: number
  /** Orders placed by the load so far. */
  readonly orders: number
  readonly updates: number
  /** From an order's change to its delivery, since the last reading; NaN without deliveries. */
  readonly delayMs: { readonly median: number; readonly p99: number }
}

const DELAYS_MAX = 100_000

/** Collects delivery delays, and reads everything else on request. */
export class Sampler {
  readonly #world: World
  readonly #began = performance.now()
  #delays: number[] = []
  #updates = 0

  constructor(world: World) {
    this.#world = world
  }

  readonly delivered = (ms: number): void => {
    this.#updates += 1
    if (this.#delays.length < DELAYS_MAX) this.#delays.push(ms)
  }

  async read(): Promise<Reading> {
    const { service, demo, ledger } = this.#world
    const [vitals, page] = await Promise.all([service.vitals(), metricsPage(demo.base_url)])
    const [, seconds = 'NaN'] = /^trunkline_event_loop_delay_seconds (\S+)$/m.exec(page) ?? []
    const delays = this.#delays.toSorted((a, b) => a - b)
    this.#delays = []
    return {
      atMs: performance.now() - this.#began,
      rssBytes: vitals.rssBytes,
      heldBytes: vitals.heapBytes + vitals.externalBytes,
      descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
      loopMs: Number(seconds) * 1_000,
      orders: ledger.requested.size + ledger.elsewhere.size,
      updates: this.#updates,
      delayMs: { median: median(delays), p99: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN }
    }
  }

  /** Reads repeatedly until the signal, and passes each reading on at once. */
  async until(signal: AbortSignal, everyMs: number, onReading: (reading: Reading) => void): Promise<readonly Reading[]> {
    const readings: Reading[] = []
    while (await pause(everyMs, signal)) {
      const reading = await this.read()
      readings.push(reading)
      onReading(reading)
    }
    return readings
  }
}
