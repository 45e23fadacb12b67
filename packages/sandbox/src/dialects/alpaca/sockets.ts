/** The WebSockets of Alpaca's streams: read and written as JSON or MessagePack, and counted by login once it is known. */

import { DecodeError, decode, EXT_TIMESTAMP, ExtensionCodec, encode, encodeTimeSpecToTimestamp } from '@msgpack/msgpack'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Pass, StreamEndpoint } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections, type DialectConnectionsDeps } from '../frame/connections.ts'
import { type Guest, socketEndpoint } from '../frame/sockets.ts'

const MESSAGE_BYTES_MAX = 64 * 1024
const PACKED = { maxStrLength: 65_536, maxBinLength: 65_536, maxArrayLength: 65_536, maxMapLength: 65_536, maxExtLength: 12 }

/** JSON in text frames, JSON in binary frames, or MessagePack: how frames of JSON text are sent. */
const ENCODERS = {
  json: (frame: string) => frame,
  'json-bytes': (frame: string) => Buffer.from(frame),
  msgpack: packed
}

/** One client that has come in. */
export interface StreamGuest {
  readonly send: (message: object) => void
  readonly close: (code: number, reason: string) => void
  /** It is known who it is. What it has `held` is given back when it goes. */
  readonly join: (pass: Pass) => DialectConnection
  readonly held: DisposableStack
}

export interface StreamOptions extends Pick<DialectConnectionsDeps, 'waitingMax' | 'garbled'> {
  readonly path: string
  /** The encoding for a client that asked for MessagePack, or did not. */
  readonly codec: (wantsMsgpack: boolean) => keyof typeof ENCODERS
  /** The code that a slow reader is closed with. */
  readonly slow: number
  /** So long may a guest be nobody. */
  readonly silentMs: number
  readonly silent: (guest: StreamGuest) => void
  /** @returns what receives the client's messages; one that cannot be read is undefined */
  readonly welcome: (guest: StreamGuest) => (message: unknown) => void
}

export class AlpacaStream {
  readonly endpoint: StreamEndpoint
  readonly connections: DialectConnections
  readonly #options: StreamOptions

  constructor({ realNow: now, onError }: BrokerageView, options: StreamOptions) {
    const { path, codec, waitingMax, garbled, slow } = options
    this.#options = options
    this.connections = new DialectConnections({ now, waitingMax, garbled, codes: { going: 1001, tokenEnded: 1008, slow } })
    this.endpoint = socketEndpoint({
      ...{ path, onError, messageBytesMax: MESSAGE_BYTES_MAX },
      codec: ({ headers }) => {
        const chosen = codec(headers['content-type']?.includes('msgpack') === true)
        return { encode: ENCODERS[chosen], read: (data, isBinary) => readMessage(data, isBinary && chosen === 'msgpack') }
      },
      welcome: guest => this.#welcome(guest)
    })
  }

  #welcome(guest: Guest): (message: unknown) => void {
    const { silentMs, silent, welcome } = this.#options
    const held = new DisposableStack()
    let connection: DialectConnection | undefined
    const known: StreamGuest = {
      held,
      send: message => (connection ?? guest.pipe).send(JSON.stringify(message)),
      close: (code, reason) => guest.pipe.close(code, reason),
      join: pass => {
        clearTimeout(late)
        const joined = held.adopt(this.connections.add(pass, guest.pipe), one => this.connections.remove(one))
        guest.mute = () => joined.isMute
        connection = joined
        return joined
      }
    }
    const late = setTimeout(() => silent(known), silentMs).unref()
    guest.socket.on('close', () => {
      clearTimeout(late)
      held.dispose()
    })
    return welcome(known)
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

/** The field `t` is an instant. A frame that is garbled on purpose goes as it is. */
function packed(frame: string): Buffer {
  try {
    const timed = JSON.parse(frame, (key, value) => (key === 't' && typeof value === 'string' ? new Instant(value) : value))
    return Buffer.from(encode(timed, { extensionCodec }))
  } catch {
    return Buffer.from(frame)
  }
}
