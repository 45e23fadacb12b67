import type { FlushScheduler } from './flush-scheduler.ts'
import { fragments, framed, framedBytes } from './frame.ts'
import type { SendBufferLimits } from './send-buffer-limits.ts'

/** Bytes written to a socket at once. The rest stays in the buffer, where it is counted. */
const WRITE_BYTES = 64 * 1024

/** The target of writes. */
export interface Sink {
  /** False if nothing more should be written until {@link SendBuffer.drained} is called. */
  write(bytes: Uint8Array): boolean
  /** The reader is too slow: nothing more is written, and what was buffered is dropped. */
  overflowed(reason: string): void
  /** More was buffered than one write takes, and no longer is. */
  caughtUp(): void
}

/** A frame, or an ASCII message that is framed when it is written. */
export type Entry = Uint8Array | string

/**
 * Buffers frames for one reader, some shared with other readers, in order, never conflated. They are written once per turn of the event
 * loop; while the reader is stalled they stay buffered, up to a bound.
 */
export class SendBuffer {
  readonly #sink: Sink
  readonly #scheduler: FlushScheduler
  readonly #limits: SendBufferLimits
  #frames: Entry[] = EMPTY
  #bytes = 0
  #isDue = false
  /** Since when the reader is stalled, on the monotonic clock; null while it reads. */
  #stalledSince: number | null = null
  #isClosed = false
  #wasBehind = false
  /** Whether there may be messages among the frames. */
  #hasTexts = false
  #idle: (() => void)[] | null = null

  constructor(sink: Sink, scheduler: FlushScheduler, limits: SendBufferLimits) {
    this.#sink = sink
    this.#scheduler = scheduler
    this.#limits = limits
  }

  /** Bytes buffered because the reader is stalled. */
  get waitingBytes(): number {
    return this.#stalledSince === null ? 0 : this.#bytes
  }

  get stalledSince(): number | null {
    return this.#stalledSince
  }

  /** Whether the reader is slower than its messages: a whole write is buffered behind the one in flight. */
  get isBehind(): boolean {
    if (this.#stalledSince === null || this.#bytes < WRITE_BYTES) return false
    this.#wasBehind = true
    return true
  }

  /** An ASCII message. One longer than a write is sent in pieces, so that a slow reader's progress shows. */
  text(message: string): void {
    if (message.length > WRITE_BYTES) {
      for (const fragment of fragments(message, WRITE_BYTES)) this.push(fragment)
      return
    }
    this.#hasTexts = true
    this.#queue(message, framedBytes(message.length))
  }

  push(frame: Uint8Array): void {
    this.#queue(frame, frame.byteLength)
  }

  #queue(entry: Entry, bytes: number): void {
    if (this.#isClosed) return
    if (this.#frames === EMPTY) this.#frames = []
    this.#frames.push(entry)
    this.#bytes += bytes
    if (this.#stalledSince === null) {
      if (!this.#isDue) {
        this.#isDue = true
        this.#scheduler.later(this)
      }
    } else {
      this.#scheduler.waiting(bytes)
    }
    if (this.#bytes > this.#limits.bytesMax || this.#frames.length > this.#limits.messagesMax) {
      // The socket may accept everything of one turn, so it is tried before the reader counts as slow.
      if (this.#stalledSince === null) this.flush()
      if (this.#stalledSince !== null && this.#isTooMuch()) this.overflow(`more than ${this.#bounds()} waited for it`)
    }
  }

  /** Writes buffered frames as far as the socket accepts them. */
  flush(): void {
    this.#isDue = false
    while (this.#frames.length > 0 && this.#stalledSince === null && !this.#isClosed) this.#write()
    if (this.#frames.length === 0) this.#settle()
  }

  /** The reader reads again. */
  drained(): void {
    if (this.#stalledSince === null) return
    this.#scheduler.unstall(this, this.#bytes)
    this.#stalledSince = null
    this.flush()
    if (!this.#wasBehind || this.isBehind || this.#isClosed) return
    this.#wasBehind = false
    this.#sink.caughtUp()
  }

  /** Resolves when the buffer is empty: everything was written, or dropped. */
  idle(): Promise<void> {
    if (this.#frames.length === 0 || this.#isClosed) return Promise.resolve()
    return new Promise(resolve => {
      this.#idle ??= []
      this.#idle.push(resolve)
    })
  }

  overflow(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#sink.overflowed(reason)
  }

  /** Drops buffered frames, and accepts no more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#stalledSince !== null) this.#scheduler.unstall(this, this.#bytes)
    this.#stalledSince = null
    this.#frames = EMPTY
    this.#bytes = 0
    this.#settle()
  }

  #write(): void {
    let [count, bytes] = [0, 0]
    if (this.#bytes <= WRITE_BYTES) [count, bytes] = [this.#frames.length, this.#bytes]
    else {
      for (const frame of this.#frames) {
        const size = sizeOf(frame)
        if (count > 0 && bytes + size > WRITE_BYTES) break
        count += 1
        bytes += size
      }
    }
    const batch = count === this.#frames.length ? this.#frames : this.#frames.slice(0, count)
    this.#frames = count === this.#frames.length ? EMPTY : this.#frames.slice(count)
    this.#bytes -= bytes
    const piece = isOfFrames(batch, this.#hasTexts) ? this.#scheduler.gathered(batch, bytes) : framed(batch, bytes)
    if (this.#frames === EMPTY) this.#hasTexts = false
    if (this.#sink.write(piece) || this.#isClosed) return
    this.#stalledSince = this.#scheduler.stall(this, this.#bytes)
  }

  #isTooMuch(): boolean {
    return this.#bytes > this.#limits.bytesMax || this.#frames.length > this.#limits.messagesMax
  }

  #bounds(): string {
    return `${this.#limits.messagesMax} messages or ${this.#limits.bytesMax} bytes`
  }

  #settle(): void {
    const idle = this.#idle
    this.#idle = null
    for (const resolve of idle ?? []) resolve()
  }
}

/** Shared by all empty buffers, and never written to. */
const EMPTY: Entry[] = []

/** Frames that are shared with other readers are concatenated once for all of them; messages are for one reader. */
function isOfFrames(_batch: readonly Entry[], hasTexts: boolean): _batch is readonly Uint8Array[] {
  return !hasTexts
}

function sizeOf(entry: Entry): number {
  return typeof entry === 'string' ? framedBytes(entry.length) : entry.byteLength
}
