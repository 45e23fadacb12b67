/** MessagePack, as far as Alpaca's streams use it: JSON values, and instants as the timestamp extension. */

const TIMESTAMP = 0xff
const DEPTH_MAX = 16
/** Thirty-four bits. */
const SECONDS = (1n << 34n) - 1n

/** A message that is no MessagePack, or none that anybody would send here. */
export class BadPack extends Error {
  override readonly name = 'BadPack'
}

/** Instants: texts of RFC 3339 under the key `t`, with up to nine places. */
export function pack(value: unknown): Buffer {
  const parts: Buffer[] = []
  write(value, parts)
  return Buffer.concat(parts)
}

/** @throws BadPack */
export function unpack(bytes: Buffer): unknown {
  const reader = new Reader(bytes)
  const value = reader.value(0)
  if (!reader.isAtEnd) throw new BadPack('there is more after the value')
  return value
}

function write(value: unknown, parts: Buffer[], key = ''): void {
  if (value === null || value === undefined) parts.push(byte(0xc0))
  else if (typeof value === 'boolean') parts.push(byte(value ? 0xc3 : 0xc2))
  else if (typeof value === 'number') parts.push(number(value))
  else if (typeof value === 'string') parts.push(key === 't' ? (instant(value) ?? text(value)) : text(value))
  else if (Array.isArray(value)) {
    parts.push(head(value.length, 0x90, 0xdc))
    for (const item of value) write(item, parts)
  } else {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    parts.push(head(entries.length, 0x80, 0xde))
    for (const [name, item] of entries) {
      parts.push(text(name))
      write(item, parts, name)
    }
  }
}

function byte(value: number): Buffer {
  return Buffer.from([value])
}

/** Of a list or a map: short ones have their size in the first byte. */
function head(size: number, short: number, long: number): Buffer {
  if (size < 16) return byte(short | size)
  const bytes = Buffer.alloc(3)
  bytes[0] = long
  bytes.writeUInt16BE(size, 1)
  return bytes
}

/** In the shortest form there is: clients read long ones as big integers, which equal no number. */
function number(value: number): Buffer {
  if (!Number.isSafeInteger(value)) return sized(0xcb, 8, bytes => bytes.writeDoubleBE(value, 1))
  return value < 0 ? negative(value) : natural(value)
}

function natural(value: number): Buffer {
  if (value < 2 ** 7) return byte(value)
  if (value < 2 ** 8) return sized(0xcc, 1, bytes => bytes.writeUInt8(value, 1))
  if (value < 2 ** 16) return sized(0xcd, 2, bytes => bytes.writeUInt16BE(value, 1))
  if (value < 2 ** 32) return sized(0xce, 4, bytes => bytes.writeUInt32BE(value, 1))
  return sized(0xcf, 8, bytes => bytes.writeBigUInt64BE(BigInt(value), 1))
}

function negative(value: number): Buffer {
  if (value >= -32) return byte(value & 0xff)
  if (value >= -(2 ** 31)) return sized(0xd2, 4, bytes => bytes.writeInt32BE(value, 1))
  return sized(0xd3, 8, bytes => bytes.writeBigInt64BE(BigInt(value), 1))
}

function sized(first: number, size: number, fill: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size + 1)
  bytes[0] = first
  fill(bytes)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  const size = bytes.length
  if (size < 32) return Buffer.concat([byte(0xa0 | size), bytes])
  if (size < 256) return Buffer.concat([Buffer.from([0xd9, size]), bytes])
  const start = Buffer.alloc(5)
  start[0] = 0xdb
  start.writeUInt32BE(size, 1)
  return Buffer.concat([start, bytes])
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/

function instant(value: string): Buffer | null {
  const [, whole, places = ''] = INSTANT.exec(value) ?? []
  if (whole === undefined) return null
  const seconds = BigInt(Date.parse(`${whole}Z`) / 1000)
  const nanos = BigInt(places.padEnd(9, '0'))
  // The form of eight bytes: thirty bits of nanoseconds before thirty-four of seconds.
  const bytes = Buffer.alloc(10)
  bytes[0] = 0xd7
  bytes[1] = TIMESTAMP
  bytes.writeBigUInt64BE((nanos << 34n) | seconds, 2)
  return bytes
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new BadPack(`nested deeper than ${DEPTH_MAX}`)
    const first = this.#take(1).readUInt8(0)
    if (first < 0x80) return first
    if (first < 0x90) return this.#map(first & 0x0f, depth)
    if (first < 0xa0) return this.#list(first & 0x0f, depth)
    if (first < 0xc0) return this.#take(first & 0x1f).toString()
    if (first >= 0xe0) return first - 256
    return this.#long(first, depth)
  }

  #long(first: number, depth: number): unknown {
    switch (first) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xca:
        return this.#take(4).readFloatBE(0)
      case 0xcb:
        return this.#take(8).readDoubleBE(0)
      case 0xcc:
        return this.#size(1)
      case 0xcd:
        return this.#size(2)
      case 0xce:
        return this.#size(4)
      case 0xcf:
        return Number(this.#take(8).readBigUInt64BE(0))
      case 0xd0:
        return this.#take(1).readInt8(0)
      case 0xd1:
        return this.#take(2).readInt16BE(0)
      case 0xd2:
        return this.#take(4).readInt32BE(0)
      case 0xd3:
        return Number(this.#take(8).readBigInt64BE(0))
      case 0xd9:
      case 0xc4:
        return this.#take(this.#size(1)).toString()
      case 0xda:
      case 0xc5:
        return this.#take(this.#size(2)).toString()
      case 0xdb:
      case 0xc6:
        return this.#take(this.#size(4)).toString()
      case 0xd7:
        return this.#instant()
      case 0xdc:
        return this.#list(this.#size(2), depth)
      case 0xde:
        return this.#map(this.#size(2), depth)
      default:
        throw new BadPack(`the form 0x${first.toString(16)} is not read here`)
    }
  }

  #instant(): string {
    if (this.#size(1) !== TIMESTAMP) throw new BadPack('an extension that is no timestamp')
    const packed = this.#take(8).readBigUInt64BE(0)
    const seconds = new Date(Number(packed & SECONDS) * 1000).toISOString().slice(0, 19)
    return `${seconds}.${String(packed >> 34n).padStart(9, '0')}Z`
  }

  #size(bytes: 1 | 2 | 4): number {
    return this.#take(bytes).readUIntBE(0, bytes)
  }

  #list(size: number, depth: number): unknown[] {
    const items: unknown[] = []
    for (let at = 0; at < size; at++) items.push(this.value(depth + 1))
    return items
  }

  #map(size: number, depth: number): object {
    const entries: [string, unknown][] = []
    for (let at = 0; at < size; at++) entries.push([String(this.value(depth + 1)), this.value(depth + 1)])
    return Object.fromEntries(entries)
  }

  #take(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) throw new BadPack('it ends before its time')
    const taken = this.#bytes.subarray(this.#at, this.#at + size)
    this.#at += size
    return taken
  }
}
