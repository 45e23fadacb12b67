const TEXT = 0x81
const FIN = 0x80
const PONG = 0x8a
const TEXT_BEGINS = 0x01
const GOES_ON = 0x00
const LENGTH_16 = 126
const LENGTH_64 = 127
const HEAD_MAX = 10

/** A text message as a server's frame: final, unmasked (RFC 6455, section 5.2). `payload` is UTF-8. */
export function textFrame(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(framedBytes(payload.byteLength))
  frame.set(payload, writeHead(frame, 0, payload.byteLength))
  return frame
}

/** As {@link textFrame}, of a payload that is made by `write` behind so many bytes of its own buffer as it learns from its argument. */
export function framedInPlace(write: (before: (payload: number) => number) => Uint8Array): Uint8Array {
  let head = 0
  const frame = write(payload => {
    head = framedBytes(payload) - payload
    return head
  })
  writeHead(frame, 0, frame.byteLength - head)
  return frame
}

/** A message as a text frame. */
export function messageFrame(message: unknown): Uint8Array {
  return textFrame(Buffer.from(JSON.stringify(message)))
}

/** The answer to a ping, with its payload of at most 125 bytes. */
export function pongFrame(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(payload.byteLength + 2)
  frame[0] = PONG
  frame[1] = payload.byteLength
  frame.set(payload, 2)
  return frame
}

/** The size of a text frame with a payload of this size, in bytes. */
export function framedBytes(payload: number): number {
  return payload + (payload < LENGTH_16 ? 2 : payload < 65_536 ? 4 : 10)
}

/** Frames, and ASCII messages as frames, concatenated in `bytes` bytes. */
export function framed(entries: readonly (Uint8Array | string)[], bytes: number): Buffer {
  const piece = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const entry of entries) {
    if (typeof entry !== 'string') {
      piece.set(entry, at)
      at += entry.byteLength
      continue
    }
    at = writeHead(piece, at, entry.length)
    at += piece.write(entry, at, 'latin1')
  }
  return piece
}

/**
 * A long ASCII message as fragments of at most `bytesMax` bytes (RFC 6455, section 5.4). Between fragments, unlike within a frame, a pong
 * or a close may be written.
 */
export function fragments(message: string, bytesMax: number): readonly Uint8Array[] {
  const payloadMax = bytesMax - HEAD_MAX
  const pieces: Uint8Array[] = []
  for (let from = 0; from < message.length; from += payloadMax) {
    const payload = message.slice(from, from + payloadMax)
    const piece = Buffer.allocUnsafe(framedBytes(payload.length))
    const isLast = from + payloadMax >= message.length
    piece.write(payload, writeHead(piece, 0, payload.length, (from === 0 ? TEXT_BEGINS : GOES_ON) | (isLast ? FIN : 0)), 'latin1')
    pieces.push(piece)
  }
  return pieces
}

/** Writes the header of a frame; returns the offset of the payload. */
function writeHead(piece: Uint8Array, at: number, payload: number, kind = TEXT): number {
  piece[at] = kind
  if (payload < LENGTH_16) {
    piece[at + 1] = payload
    return at + 2
  }
  if (payload < 65_536) {
    piece[at + 1] = LENGTH_16
    piece[at + 2] = payload >> 8
    piece[at + 3] = payload & 0xff
    return at + 4
  }
  piece[at + 1] = LENGTH_64
  new DataView(piece.buffer, piece.byteOffset).setBigUint64(at + 2, BigInt(payload))
  return at + 10
}
