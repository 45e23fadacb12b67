/** The two ways in which Alpaca's market streams are written. */

import { decode, decodeTimestampToTimeSpec, EXT_TIMESTAMP, ExtensionCodec, encode } from '@msgpack/msgpack'
import { FlatReader } from '@trunkline/core/domain/fast/flat-json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { jsonWithNumbersAsText } from '../../kit/json.ts'
import type { Frame } from '../../kit/stream-protocol.ts'

export interface Codec {
  /** Headers of the connection. */
  readonly headers: Readonly<Record<string, string>>
  encode(message: object): Frame
  /** @throws Malformed */
  decode(frame: Frame): readonly unknown[]
}

/** The fields read of an item, or of a message about the connection. */
const READ = ['T', 'S', 't', 'i', 'x', 'p', 's', 'c', 'z', 'bp', 'bs', 'ap', 'as', 'b', 'a', 'r']
const READ_OF_STATUS = ['msg', 'code', 'trades', 'quotes', 'orderbooks']
const reader = new FlatReader([...READ, ...READ_OF_STATUS], jsonWithNumbersAsText)

export const JSON_CODEC: Codec = {
  headers: {},
  encode: message => JSON.stringify(message),
  decode(frame) {
    if (typeof frame !== 'string') throw new Malformed('frame', 'text', 'bytes')
    // A price is a number there, and must not become a binary float on the way.
    return listOf(reader.read(frame))
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

/** The options stream uses nothing else. Prices are binary floats there already: their shortest text is the price. */
export const MESSAGE_PACK_CODEC: Codec = {
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
      extensionCodec: times,
      useBigInt64: true,
      maxStrLength: TEXT_MAX,
      maxBinLength: TEXT_MAX,
      maxExtLength: TEXT_MAX,
      maxArrayLength: LIST_MAX,
      maxMapLength: LIST_MAX
    })
  } catch (cause) {
    throw new Malformed('frame', 'MessagePack', cause instanceof Error ? cause.message : cause)
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new Malformed('message', 'a list', value)
}
