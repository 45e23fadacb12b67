/** The WebSockets of Alpaca's streams: let in, read and written as JSON or MessagePack. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type WebSocket, WebSocketServer } from 'ws'
import type { StreamEndpoint } from '../frame/brokerage.ts'
import { type Pipe, socketPipe } from '../frame/connections.ts'
import { BadPack, pack, unpack } from './msgpack.ts'

const MESSAGE_BYTES_MAX = 64 * 1024

/** JSON in text frames, JSON in binary frames, or MessagePack. */
export type Codec = 'json' | 'json-bytes' | 'msgpack'

/** One client that has come in. */
export interface Guest {
  readonly request: IncomingMessage
  readonly socket: WebSocket
  readonly codec: Codec
  /** Takes frames of JSON text, whatever goes over the wire. */
  readonly pipe: Pipe
  /** Asked before a ping is answered. */
  mute: () => boolean
}

export interface SocketOptions {
  readonly path: string
  /** The encoding for a client that asked for MessagePack, or did not. */
  readonly codec: (wantsMsgpack: boolean) => Codec
  readonly welcome: (guest: Guest) => void
}

export function endpointOf({ path, codec, welcome }: SocketOptions): StreamEndpoint {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    maxFragments: 64,
    maxBufferedChunks: 256,
    // A stream that is mute by order must not be betrayed by the answers to its pings.
    autoPong: false
  })
  const accept = (request: IncomingMessage, duplex: Duplex, head: Buffer) =>
    server.handleUpgrade(request, duplex, head, socket => {
      const chosen = codec(request.headers['content-type']?.includes('msgpack') === true)
      const guest: Guest = { request, socket, codec: chosen, pipe: pipeOf(socket, duplex, chosen), mute: () => false }
      socket.on('error', () => socket.terminate())
      socket.on('ping', data => {
        if (!guest.mute() && socket.readyState === socket.OPEN) socket.pong(data)
      })
      welcome(guest)
    })
  return { path, accept }
}

function pipeOf(socket: WebSocket, duplex: Duplex, codec: Codec): Pipe {
  const plain = socketPipe(socket, duplex, codec === 'json-bytes')
  if (codec !== 'msgpack') return plain
  return {
    get isOpen() {
      return plain.isOpen
    },
    get waiting() {
      return plain.waiting
    },
    send: frame => socket.send(packed(frame)),
    close: (code, reason) => plain.close(code, reason),
    cut: () => plain.cut()
  }
}

/** A frame that is garbled on purpose goes as it is. */
function packed(frame: string): Buffer {
  try {
    return pack(JSON.parse(frame))
  } catch {
    return Buffer.from(frame)
  }
}

/** A client's message; undefined if it cannot be read. */
export function readMessage(data: Buffer, isBinary: boolean, codec: Codec): unknown {
  try {
    return codec === 'msgpack' && isBinary ? unpack(data) : parseJson(data.toString())
  } catch (error) {
    if (error instanceof BadPack || error instanceof Malformed) return undefined
    throw error
  }
}

/** A field that is to be a text; empty when it is anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** All of a message, which `ws` may hand over in pieces. */
export function wholeOf(data: Buffer | ArrayBuffer | readonly Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data
  return data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.concat(data)
}
