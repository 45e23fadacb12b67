/** The WebSockets of Alpaca's streams, read and written as JSON or MessagePack. */

import { DecodeError, decode, EXT_TIMESTAMP, ExtensionCodec, encode, encodeTimeSpecToTimestamp } from '@msgpack/msgpack'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { StreamEndpoint } from '../frame/brokerage.ts'
import { type SocketOptions, socketEndpoint } from '../frame/sockets.ts'

const MESSAGE_BYTES_MAX = 64 * 1024
const PACKED = { maxStrLength: 65_536, maxBinLength: 65_536, maxArrayLength: 65_536, maxMapLength: 65_536, maxExtLength: 12 }

/** JSON in text frames, JSON in binary frames, or MessagePack. */
export type Codec = 'json' | 'json-bytes' | 'msgpack'

export interface AlpacaSocketOptions extends Pick<SocketOptions, 'path' | 'onError' | 'welcome'> {
  /** The encoding for a client that asked for MessagePack, or did not. */
  readonly codec: (wantsMsgpack: boolean) => Codec
}

export function endpointOf({ codec, ...options }: AlpacaSocketOptions): StreamEndpoint {
  return socketEndpoint({
    ...options,
    messageBytesMax: MESSAGE_BYTES_MAX,
    codec: ({ headers }) => {
      const chosen = codec(headers['content-type']?.includes('msgpack') === true)
      return { encode: ENCODERS[chosen], read: (data, isBinary) => readMessage(data, isBinary && chosen === 'msgpack') }
    }
  })
}

const ENCODERS: Readonly<Record<Codec, (frame: string) => string | Buffer>> = {
  json: frame => frame,
  'json-bytes': frame => Buffer.from(frame),
  msgpack: packed
}

/** A frame that is garbled on purpose goes as it is. */
function packed(frame: string): Buffer {
  try {
    return pack(JSON.parse(frame))
  } catch {
    return Buffer.from(frame)
  }
}

function readMessage(data: Buffer, isPacked: boolean): unknown {
  try {
    return isPacked ? decode(data, PACKED) : parseJson(data.toString())
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError || error instanceof Malformed) return undefined
    throw error
  }
}

/** A time that keeps its nanoseconds. */
class Instant {
  readonly sec: number
  readonly nsec: number

  constructor(text: string) {
    this.sec = Math.floor(Date.parse(text) / 1_000)
    this.nsec = Number((/\.(\d{1,9})Z$/.exec(text)?.[1] ?? '').padEnd(9, '0'))
  }
}

const extensionCodec = new ExtensionCodec()
extensionCodec.register({
  type: EXT_TIMESTAMP,
  encode: value => (value instanceof Instant ? encodeTimeSpecToTimestamp(value) : null),
  decode: () => null
})

/** JSON values; the field `t` is an instant. */
export function pack(value: unknown): Buffer {
  return Buffer.from(encode(withInstants(value), { extensionCodec }))
}

function withInstants(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withInstants)
  if (typeof value !== 'object' || value === null) return value
  return 't' in value && typeof value.t === 'string' ? { ...value, t: new Instant(value.t) } : value
}

/** A field that is to be a text; empty when it is anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
