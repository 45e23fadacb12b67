import { FrameReader } from './frames.ts'
import type { Passing } from './request-cut.ts'
import type { Tampering } from './tampering.ts'

const HEAD_END = '\r\n\r\n'
const HEAD_BYTES_MAX = 64 * 1024

/**
 * What a WebSocket's server sends: the head of its answer, then frames. They are separated from the first one on, so that tampering can
 * begin at any moment.
 */
export class StreamAnswers {
  readonly #frames = new FrameReader()
  /** As far as it has come; null once the frames begin. */
  #head: Buffer | null = Buffer.alloc(0)
  #tampering: Tampering | null = null

  /** Returns what the previous one has held back. */
  tamper(tampering: Tampering | null): Buffer {
    const rest = this.#tampering?.rest() ?? []
    this.#tampering = tampering
    return Buffer.concat(rest.map(({ bytes }) => bytes))
  }

  /** What passes of a chunk; with `isAll` the connection is cut after it. */
  take(chunk: Buffer): Passing {
    if (this.#head === null) return this.#framesOf(chunk)
    this.#head = Buffer.concat([this.#head, chunk])
    const end = this.#head.indexOf(HEAD_END)
    if (end < 0) return { bytes: Buffer.alloc(0), isAll: this.#head.length > HEAD_BYTES_MAX }
    const head = this.#head.subarray(0, end + HEAD_END.length)
    const { bytes, isAll } = this.#framesOf(this.#head.subarray(head.length))
    this.#head = null
    return { bytes: Buffer.concat([head, bytes]), isAll }
  }

  #framesOf(chunk: Buffer): Passing {
    const out: Buffer[] = []
    for (const frame of this.#frames.push(chunk)) {
      const { frames, cut } = this.#tampering?.take(frame) ?? { frames: [frame], cut: false }
      out.push(...frames.map(({ bytes }) => bytes))
      if (cut) return { bytes: Buffer.concat(out), isAll: true }
    }
    return { bytes: Buffer.concat(out), isAll: false }
  }
}
