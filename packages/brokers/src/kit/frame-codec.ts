/**
 * How frames of a stream are written where each is a list of messages: JSON of known fields, or MessagePack. Pure; readers throw only
 * Malformed.
 */

import { decode, decodeTimestampToTimeSpec, EXT_TIMESTAMP, ExtensionCodec, encode } from '@msgpack/msgpack'
import { FlatReader } from '@trunkline/core/domain/fast/flat-json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { jsonWithNumbersAsText } from './json.ts'
import type { Frame } from './stream-protocol.ts'

export interface FrameCodec {
  /** Headers of the connection. */
  readonly headers: Readonly<Record<string, string>>
  encode(message: object): Frame
  /** @throws Malformed */
  decode(frame: Frame): readonly unknown[]
}

/**
 * `fields`: those that messages have, so that they are read fast. A number is read as text, and never becomes a binary float on the way.
 */
export function jsonFrames(fields: readonly string[]): FrameCodec {
  const reader = new FlatReader(fields, jsonWithNumbersAsText)
  return {
    headers: {},
    encode: message => JSON.stringify(message),
    decode(frame) {
      if (typeof frame !== 'string') throw new Malformed('frame', 'text', 'bytes')
      return listOf(reader.read(frame))
    }
  }
}

const NANOS_PLACES = 9
const TEXT_MAX = 4_096
const LIST_MAX = 100_000

/** Times have nanoseconds, which JavaScript dates would lose. */
const times = new ExtensionCodec()
times.register({
  type: EXT_TIMESTAMP,
  encode: () => null,
  decode: data => {
    const { sec, nsec } = decodeTimestampToTimeSpec(data)
    return `${sec}${String(nsec).padStart(NANOS_PLACES, '0')}`
  }
})

/** Prices are binary floats there already: their shortest text is the price. Times are nanoseconds since the epoch, as text. */
export const MESSAGE_PACK_FRAMES: FrameCodec = {
  headers: { 'content-type': 'application/msgpack' },
  encode: message => encode(message),
  decode(frame) {
    if (typeof frame === 'string') throw new Malformed('frame', 'bytes', frame)
    return listOf(unpacked(frame))
  }
}

function unpacked(frame: Uint8Array): unknown {
  try {
    return decode(frame, {
      ...{ extensionCodec: times, useBigInt64: true, maxArrayLength: LIST_MAX, maxMapLength: LIST_MAX },
      ...{ maxStrLength: TEXT_MAX, maxBinLength: TEXT_MAX, maxExtLength: TEXT_MAX }
    })
  } catch (cause) {
    throw new Malformed('frame', 'MessagePack', cause instanceof Error ? cause.message : cause)
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new Malformed('message', 'a list', value)
}
