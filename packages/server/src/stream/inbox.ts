import type { Clock } from '@trunkline/core/ports/clock'

/** The message rate of a session: a burst, and a sustained rate. */
export interface InboxLimits {
  readonly burst: number
  readonly perSecond: number
  /** Messages beyond the rate that are only answered with an error; the next one ends the session. */
  readonly warnings: number
  /** Bytes that may wait for earlier messages; above it the session is not read. */
  readonly bytesMax: number
}

export const INBOX_LIMITS: InboxLimits = { burst: 1_000, perSecond: 100, warnings: 3, bytesMax: 256 * 1024 }

export interface InboxOwner {
  /** Handles a message. Errors and rejections go to {@link failed}. */
  handle(message: string): Promise<void> | undefined
  /** Our own fault prevented a message from being handled: the session cannot go on. */
  failed(cause: unknown): void
  /** A message exceeded the rate and was dropped. `isLast`: too many of them were. */
  tooMany(isLast: boolean): void
  pause(): void
  resume(): void
}

/** A session's messages, handled one after the other in order of arrival. */
export class Inbox {
  readonly #owner: InboxOwner
  readonly #limits: InboxLimits
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #tokens: number
  #filledAt: number
  #warned = 0
  #waiting: string[] | null = null
  #bytes = 0
  #isPaused = false

  constructor(owner: InboxOwner, clock: Pick<Clock, 'monotonicMs'>, limits: InboxLimits) {
    this.#owner = owner
    this.#clock = clock
    this.#limits = limits
    this.#tokens = limits.burst
    this.#filledAt = clock.monotonicMs()
  }

  put(message: string): void {
    if (!this.#takeToken()) {
      this.#warned += 1
      this.#owner.tooMany(this.#warned > this.#limits.warnings)
      return
    }
    if (this.#waiting !== null) {
      this.#waiting.push(message)
      this.#bytes += Buffer.byteLength(message)
      if (this.#bytes > this.#limits.bytesMax && !this.#isPaused) {
        this.#isPaused = true
        this.#owner.pause()
      }
      return
    }
    const handled = this.#begin(message)
    if (handled === undefined) return
    this.#waiting = []
    void this.#drain(handled)
  }

  /** Drops waiting messages. */
  close(): void {
    if (this.#waiting !== null) this.#waiting.length = 0
    this.#bytes = 0
  }

  async #drain(first: Promise<void>): Promise<void> {
    let handled: Promise<void> | undefined = first
    for (;;) {
      try {
        await handled
      } catch (cause) {
        this.#owner.failed(cause)
      }
      const message = this.#next()
      if (message === undefined) break
      handled = this.#begin(message)
    }
    this.#waiting = null
  }

  #begin(message: string): Promise<void> | undefined {
    try {
      return this.#owner.handle(message)
    } catch (cause) {
      this.#owner.failed(cause)
      return undefined
    }
  }

  #next(): string | undefined {
    const message = this.#waiting?.shift()
    if (message === undefined) return undefined
    this.#bytes -= Buffer.byteLength(message)
    if (this.#isPaused && this.#bytes <= this.#limits.bytesMax / 2) {
      this.#isPaused = false
      this.#owner.resume()
    }
    return message
  }

  #takeToken(): boolean {
    const { burst, perSecond } = this.#limits
    const now = this.#clock.monotonicMs()
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1_000) * perSecond)
    this.#filledAt = now
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
