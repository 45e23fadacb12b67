import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import type { Conditions } from './conditions.ts'

/** Of the sender's bytes so many are held for a link that is slow or dead; then the sender is not read any more. */
const HELD_BYTES_MAX = 256 * 1024

interface Parcel {
  /** Null: the sender has ended. */
  readonly bytes: Buffer | null
  /** On the monotonic clock. */
  readonly dueAt: number
  readonly whenWritten: (() => void) | null
}

interface Limit {
  left: number
  readonly whenReached: () => void
}

/** One direction of a connection: takes the sender's bytes and brings them out as the conditions are at that moment. */
export class Flow {
  readonly #source: Socket
  readonly #target: Socket
  readonly #conditions: () => Conditions
  readonly #fraction: () => number
  readonly #queue: Parcel[] = []
  #heldBytes = 0
  #isDraining = false
  #isOver = false
  #limit: Limit | null = null
  #wake: () => void = () => undefined

  constructor(source: Socket, target: Socket, conditions: () => Conditions, fraction: () => number) {
    this.#source = source
    this.#target = target
    this.#conditions = conditions
    this.#fraction = fraction
  }

  /** `whenWritten` is called once the bytes have left this process. */
  push(bytes: Buffer, whenWritten: (() => void) | null = null): void {
    this.#heldBytes += bytes.length
    this.#add({ bytes, dueAt: this.#dueAt(), whenWritten })
    if (this.#heldBytes > HELD_BYTES_MAX) this.#source.pause()
  }

  /** Ends the receiver's side once everything before is out. */
  end(): void {
    this.#add({ bytes: null, dueAt: this.#dueAt(), whenWritten: null })
  }

  /** Lets so many more bytes out, one at least, and none after them. */
  stopAfter(bytes: number, whenReached: () => void): void {
    this.#limit = { left: Math.max(1, bytes), whenReached }
  }

  /** To be called when the conditions have changed. */
  changed(): void {
    this.#wake()
  }

  stop(): void {
    this.#isOver = true
    this.#queue.length = 0
    this.#wake()
  }

  #add(parcel: Parcel): void {
    if (this.#isOver) return
    this.#queue.push(parcel)
    void this.#drain()
  }

  #dueAt(): number {
    const { latencyMs, jitterMs } = this.#conditions()
    const delay = Math.max(0, latencyMs + jitterMs * (2 * this.#fraction() - 1))
    return Math.max(this.#queue.at(-1)?.dueAt ?? 0, performance.now() + delay)
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return
    this.#isDraining = true
    for (let next = this.#queue[0]; next !== undefined && !this.#isOver; next = this.#queue[0]) {
      const waitMs = next.dueAt - performance.now()
      if (this.#conditions().held) await this.#changes()
      else if (waitMs > 0) await this.#changes(waitMs)
      else if (next.bytes === null) {
        this.#target.end()
        this.#queue.shift()
      } else {
        await this.#bringOut(next.bytes, next.whenWritten)
        this.#queue.shift()
        this.#heldBytes -= next.bytes.length
        if (this.#heldBytes <= HELD_BYTES_MAX && this.#source.isPaused()) this.#source.resume()
      }
    }
    this.#isDraining = false
  }

  async #bringOut(bytes: Buffer, whenWritten: (() => void) | null): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      const { held, sliceBytes, bytesPerSecond } = this.#conditions()
      if (held) {
        await this.#changes()
        continue
      }
      const size = Math.min(bytes.length - at, sliceBytes ?? bytes.length, this.#limit?.left ?? bytes.length)
      if (bytesPerSecond !== null) await this.#changes((size * 1_000) / bytesPerSecond)
      else if (sliceBytes !== null) await immediate()
      if (this.#conditions().held) continue
      const isLast = at + size === bytes.length
      await this.#write(bytes.subarray(at, at + size), isLast ? whenWritten : null)
      at += size
    }
  }

  /** Resolves at once while the receiver keeps up. */
  async #write(piece: Buffer, whenWritten: (() => void) | null): Promise<void> {
    if (this.#target.destroyed || this.#isOver) return
    const limit = this.#limit
    if (limit !== null) limit.left -= piece.length
    const reached = limit !== null && limit.left <= 0 ? limit.whenReached : null
    // Counted before the write is confirmed: nothing may follow the last byte.
    this.#isOver ||= reached !== null
    const canTakeMore = this.#target.write(piece, () => {
      whenWritten?.()
      reached?.()
    })
    if (canTakeMore) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#target.once('drain', resolve).once('close', resolve)
    await promise
    this.#target.off('drain', resolve).off('close', resolve)
  }

  /** Until the conditions change, or the time is over. */
  async #changes(ms?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = ms === undefined ? null : setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    if (timer !== null) clearTimeout(timer)
    this.#wake = () => undefined
  }
}
