/** WebSockets of a dialect's streams: let in, pinged, and read; what their messages mean is each stream's own affair. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { StreamEndpoint } from '../../brokerage/stream/gate.ts'
import { type Pipe, socketPipe } from './connections.ts'

/** How a client's frames are written and read. */
export interface FrameCodec {
  /** Frames of JSON text as they go over the wire. */
  readonly encode: (frame: string) => string | Buffer
  /** Undefined for what cannot be read. */
  readonly read: (data: Buffer, isBinary: boolean) => unknown
}

/** One client that has come in. */
export interface Guest {
  readonly socket: WebSocket
  /** Takes frames of JSON text, whatever goes over the wire. */
  readonly pipe: Pipe
  /** Asked before a ping is answered. */
  mute: () => boolean
}

export interface SocketOptions {
  readonly path: string
  readonly messageBytesMax: number
  readonly codec: (request: IncomingMessage) => FrameCodec
  readonly onError: (error: unknown) => void
  /** @returns what receives the client's messages; one that cannot be read is undefined */
  readonly welcome: (guest: Guest) => (message: unknown) => void
}

export function socketEndpoint({ path, messageBytesMax, codec, onError, welcome }: SocketOptions): StreamEndpoint {
  const server = new WebSocketServer({
    ...{ noServer: true, perMessageDeflate: false, clientTracking: false },
    ...{ maxPayload: messageBytesMax, maxFragments: 64, maxBufferedChunks: 256 },
    // A stream that is mute by order must not be betrayed by the answers to its pings.
    autoPong: false
  })
  const accept = (request: IncomingMessage, duplex: Duplex, head: Buffer) =>
    server.handleUpgrade(request, duplex, head, socket => {
      const { encode, read } = codec(request)
      const guest: Guest = { socket, pipe: socketPipe(socket, duplex, encode), mute: () => false }
      socket.on('error', () => socket.terminate())
      socket.on('ping', data => {
        if (!guest.mute() && socket.readyState === socket.OPEN) socket.pong(data)
      })
      const receive = welcome(guest)
      socket.on('message', (data: Buffer, isBinary) => {
        try {
          receive(read(data, isBinary))
        } catch (error) {
          onError(error)
          guest.pipe.close(1011, 'internal error')
        }
      })
    })
  return { path, accept }
}
