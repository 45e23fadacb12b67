import type { SendBufferLimits } from './send-buffer-limits.ts'

/** Runs `work` once, at the end of the current turn of the event loop. */
export type Schedule = (work: () => void) => void

/** A send buffer as the scheduler uses it. */
export interface Flushable {
  readonly waitingBytes: number
  /** Since when its reader is stalled, on the monotonic clock; null while it reads. */
  readonly stalledSince: number | null
  flush(): void
  /** Drops the buffered frames, and closes the reader for this reason. */
  overflow(reason: string): void
}

/** The send buffers of a process share the time of their flush, and a bound over all of them. */
export class FlushScheduler {
  readonly #schedule: Schedule
  readonly #monotonicMs: () => number
  readonly #limits: SendBufferLimits
  #due: Flushable[] = []
  #spare: Flushable[] = []
  readonly #stalled = new Set<Flushable>()
  #waitingBytes = 0
  #lastBatch: readonly Uint8Array[] = []
  #lastBytes: Uint8Array | null = null

  constructor(limits: SendBufferLimits, monotonicMs: () => number, schedule: Schedule = setImmediate) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
    this.#schedule = schedule
  }

  /** Bytes buffered for stalled readers. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** On the monotonic clock. */
  nowMs(): number {
    return this.#monotonicMs()
  }

  later(buffer: Flushable): void {
    if (this.#due.push(buffer) === 1) this.#schedule(this.#run)
  }

  /**
   * The frames as one buffer. Readers of the same users often receive the very same frames, so the last buffer is reused for the next of
   * them: copying is most of the cost of a delivery.
   */
  gathered(batch: readonly Uint8Array[], bytes: number): Uint8Array {
    const [only] = batch
    if (batch.length === 1 && only !== undefined) return only
    if (this.#lastBytes !== null && isSame(batch, this.#lastBatch)) return this.#lastBytes
    this.#lastBatch = batch
    this.#lastBytes = Buffer.concat(batch, bytes)
    return this.#lastBytes
  }

  stall(buffer: Flushable, bytes: number): number {
    this.#stalled.add(buffer)
    this.waiting(bytes)
    return this.#monotonicMs()
  }

  unstall(buffer: Flushable, bytes: number): void {
    this.#stalled.delete(buffer)
    this.#waitingBytes -= bytes
  }

  /** Counts buffered bytes; above the bound of the process the longest buffer is dropped. */
  waiting(bytes: number): void {
    this.#waitingBytes += bytes
    while (this.#waitingBytes > this.#limits.allBytesMax) {
      const longest = [...this.#stalled].reduce<Flushable | null>((a, b) => (a === null || b.waitingBytes > a.waitingBytes ? b : a), null)
      if (longest === null || longest.waitingBytes === 0) return
      longest.overflow('the queues of all sessions together were full, and this one’s was the longest')
    }
  }

  /** Closes readers that have stalled for too long. Call it about once a second. */
  sweep(): void {
    const longAgo = this.#monotonicMs() - this.#limits.stalledMs
    for (const buffer of this.#stalled) {
      if (buffer.stalledSince !== null && buffer.stalledSince <= longAgo) {
        buffer.overflow(`it took nothing for ${Math.round(this.#limits.stalledMs / 1_000)} seconds`)
      }
    }
  }

  readonly #run = (): void => {
    const due = this.#due
    this.#due = this.#spare
    for (const buffer of due) {
      try {
        buffer.flush()
      } catch {
        buffer.overflow('it could not be written to')
      }
    }
    due.length = 0
    this.#spare = due
    this.#lastBatch = []
    this.#lastBytes = null
  }
}

function isSame(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}
