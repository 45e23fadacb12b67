const TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/** One whole text message as a server sends it: final, unmasked (RFC 6455, section 5.2). `payload` is UTF-8. */
export function textFrame(payload: Uint8Array): Uint8Array {
  const { byteLength } = payload
  const head = byteLength < LENGTH_16 ? 2 : byteLength < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + byteLength)
  frame[0] = TEXT
  if (head === 2) frame[1] = byteLength
  else if (head === 4) {
    frame[1] = LENGTH_16
    frame.writeUInt16BE(byteLength, 2)
  } else {
    frame[1] = LENGTH_64
    frame.writeBigUInt64BE(BigInt(byteLength), 2)
  }
  frame.set(payload, head)
  return frame
}

/** A message as a text frame. */
export function messageFrame(message: unknown): Uint8Array {
  return textFrame(Buffer.from(JSON.stringify(message)))
}
