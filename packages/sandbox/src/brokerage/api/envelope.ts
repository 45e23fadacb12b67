/** The envelope of every JSON answer: its time, and errors in one shape. */

import type { BrokerageClock } from '../clock.ts'
import { isoOf } from '../clock.ts'
import type { Problem } from '../problems.ts'
import type { Answer } from './response-writer.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

export class Envelope {
  readonly #realNow: () => number
  readonly #clock: BrokerageClock

  constructor(realNow: () => number, clock: BrokerageClock) {
    this.#realNow = realNow
    this.#clock = clock
  }

  /** Real time, as on the wire. */
  stamp(): string {
    return isoOf(this.#realNow() * 1000)
  }

  /** `body` must have at least one field. */
  wrap(status: number, body: object, headers: Answer['headers'] = {}): Answer {
    const text = `{"as_of":"${this.stamp()}","sandbox_time":"${isoOf(this.#clock.now())}",${JSON.stringify(body).slice(1)}`
    return { status, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store', ...headers }, text }
  }

  problem({ code, message, status, detail }: Problem): Answer {
    const body = { error: { code, message, field: detail.field ?? null }, ...('order' in detail ? { order: detail.order } : {}) }
    return this.wrap(status, body, {
      ...(detail.retryAfter === undefined ? {} : { 'retry-after': String(detail.retryAfter) }),
      ...(status === 401 ? { 'www-authenticate': `Bearer error="${code === 'token_missing' ? 'invalid_request' : 'invalid_token'}"` } : {})
    })
  }
}
