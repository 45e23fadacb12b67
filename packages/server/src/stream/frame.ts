const TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/** One whole text message as a server sends it: final, unmasked (RFC 6455, section 5.2). `payload` is UTF-8. */
export function textFrame(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(framedBytes(payload.byteLength))
  frame.set(payload, writeHead(frame, 0, payload.byteLength))
  return frame
}

/** A message as a text frame. */
export function messageFrame(message: unknown): Uint8Array {
  return textFrame(Buffer.from(JSON.stringify(message)))
}

/** Bytes of a text frame whose payload has so many. */
export function framedBytes(payload: number): number {
  return payload + (payload < LENGTH_16 ? 2 : payload < 65_536 ? 4 : 10)
}

/** Frames, and messages in ASCII as frames, one behind the other in one piece of `bytes` bytes. */
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

/** Writes the head of a text frame; gives where the payload goes. */
function writeHead(piece: Buffer, at: number, payload: number): number {
  piece[at] = TEXT
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
  piece.writeBigUInt64BE(BigInt(payload), at + 2)
  return at + 10
}
