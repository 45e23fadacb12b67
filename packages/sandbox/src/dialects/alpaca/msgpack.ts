/** MessagePack as Alpaca's streams use it: JSON values, and instants as the timestamp extension. */

import {
  DecodeError,
  decode,
  decodeTimestampToTimeSpec,
  EXT_TIMESTAMP,
  ExtensionCodec,
  encode,
  encodeTimeSpecToTimestamp
} from '@msgpack/msgpack'

const LENGTH_MAX = 65_536
const LIMITS = {
  maxStrLength: LENGTH_MAX,
  maxBinLength: LENGTH_MAX,
  maxArrayLength: LENGTH_MAX,
  maxMapLength: LENGTH_MAX,
  maxExtLength: 12
}
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/

/** A message that is no MessagePack. */
export class BadPack extends Error {
  override readonly name = 'BadPack'
}

/** A time that keeps its nanoseconds. */
class Instant {
  readonly sec: number
  readonly nsec: number

  constructor(sec: number, nsec: number) {
    this.sec = sec
    this.nsec = nsec
  }
}

const extensionCodec = new ExtensionCodec()
extensionCodec.register({
  type: EXT_TIMESTAMP,
  encode: value => (value instanceof Instant ? encodeTimeSpecToTimestamp(value) : null),
  decode: data => {
    const { sec, nsec } = decodeTimestampToTimeSpec(data)
    return `${new Date(sec * 1_000).toISOString().slice(0, 19)}.${String(nsec).padStart(9, '0')}Z`
  }
})

/** Instants: texts of RFC 3339 under the key `t`, with up to nine places. */
export function pack(value: unknown): Buffer {
  return Buffer.from(encode(withInstants(value, ''), { extensionCodec }))
}

/** @throws BadPack */
export function unpack(bytes: Buffer): unknown {
  try {
    return decode(bytes, { extensionCodec, ...LIMITS })
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError) throw new BadPack(error.message)
    throw error
  }
}

function withInstants(value: unknown, key: string): unknown {
  if (typeof value === 'string') return key === 't' ? (instantOf(value) ?? value) : value
  if (Array.isArray(value)) return value.map(item => withInstants(item, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withInstants(item, name)]))
}

function instantOf(value: string): Instant | null {
  const [, whole, places = ''] = INSTANT.exec(value) ?? []
  return whole === undefined ? null : new Instant(Date.parse(`${whole}Z`) / 1_000, Number(places.padEnd(9, '0')))
}
