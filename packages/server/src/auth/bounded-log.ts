import type { Log, LogFields } from '@trunkline/core/ports/log'
import { type Rate, RateLimiter } from './rate-limit.ts'

/** Lines of each message. What a client can cause repeatedly must not flood the log. */
const RATE = { perSecond: 1, burst: 20 }

/** A log of what clients cause: each message at a limited rate; its next line says how many were left out. Debug lines are not limited. */
export class BoundedLog implements Log {
  readonly #log: Log
  readonly #monotonicMs: () => number
  readonly #rates: RateLimiter
  readonly #leftOut = new Map<string, number>()

  constructor(log: Log, monotonicMs: () => number, rate: Rate = RATE) {
    this.#log = log
    this.#monotonicMs = monotonicMs
    this.#rates = new RateLimiter(rate)
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields)
  }

  #write(level: 'info' | 'warn' | 'error', message: string, fields: LogFields | undefined): void {
    const leftOut = this.#leftOut.get(message) ?? 0
    // Messages are written in the code, so there are few of them.
    if (this.#rates.take(message, this.#monotonicMs()).retryAfterSeconds !== null) {
      this.#leftOut.set(message, leftOut + 1)
      return
    }
    this.#leftOut.delete(message)
    this.#log[level](message, leftOut === 0 ? fields : { ...fields, leftOut })
  }
}
