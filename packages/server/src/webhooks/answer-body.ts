import type { IncomingMessage } from 'node:http'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'

const BYTES_MAX = 64 * 1024
const KEPT_BYTES_MAX = 4 * 1024

/** The answer of an attempt, as far as it was read: its beginning is kept, the rest counted. Memory is bounded by what is kept. */
export class AnswerBody {
  #answer: IncomingMessage | null = null
  #bytes = 0
  #kept: Buffer = Buffer.alloc(0)

  take(answer: IncomingMessage): void {
    this.#answer = answer
  }

  /** False once the body is longer than an answer may be: read no more. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    const space = KEPT_BYTES_MAX - this.#kept.length
    if (space > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, space)])
    return this.#bytes <= BYTES_MAX
  }

  get read(): { readonly answer: WebhookDelivery['answer']; readonly retryAfter: string | null } {
    const { statusCode, headers } = this.#answer ?? {}
    if (statusCode === undefined) return { answer: null, retryAfter: null }
    // A character that the end cut becomes a replacement character; PostgreSQL cannot store a zero.
    const body = this.#kept.toString('utf8').replaceAll('\0', '\ufffd')
    return {
      answer: { status: statusCode, body, isCut: this.#bytes > this.#kept.length },
      retryAfter: headers?.['retry-after'] ?? null
    }
  }
}
