// The frames of a WebSocket as a server sends them: where each begins and ends, and what its text is.

/** A whole frame. */
export interface Frame {
  readonly bytes: Buffer
  /** Of an unmasked text frame that is a whole message; null of every other. */
  readonly text: string | null
}

const FINAL_TEXT = 0x81
const MASKED = 0x80
const LENGTH_OF_16_BITS = 126
const LENGTH_OF_64_BITS = 127

/** Cuts a stream of bytes, in whatever chunks they come, into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): readonly Frame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const frames: Frame[] = []
    for (let layout = layoutOf(this.#rest); layout !== null && this.#rest.length >= layout.end; layout = layoutOf(this.#rest)) {
      const bytes = this.#rest.subarray(0, layout.end)
      const isText = bytes[0] === FINAL_TEXT && !layout.isMasked
      frames.push({ bytes, text: isText ? bytes.toString('utf8', layout.start) : null })
      this.#rest = this.#rest.subarray(layout.end)
    }
    return frames
  }
}

/** Where the payload of the first frame lies; null while its head has not come whole. */
function layoutOf(bytes: Buffer): { readonly start: number; readonly end: number; readonly isMasked: boolean } | null {
  const second = bytes[1]
  if (second === undefined) return null
  const isMasked = (second & MASKED) !== 0
  const short = second & ~MASKED
  const lengthBytes = short === LENGTH_OF_64_BITS ? 8 : short === LENGTH_OF_16_BITS ? 2 : 0
  const start = 2 + lengthBytes + (isMasked ? 4 : 0)
  if (bytes.length < start) return null
  const length = lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  return { start, end: start + length, isMasked }
}
