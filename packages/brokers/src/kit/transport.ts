/** The transport of a connection: a WebSocket (`web-socket.ts`), or an HTTP response that never ends (`line-transport.ts`). */

import type { HttpReply } from './http.ts'
import type { StreamFault } from './stream-fault.ts'

export interface Transport {
  send(frame: string | Uint8Array): void
  /** Once. Resolves when the socket is really gone; after the call nothing is delivered any more. `isPolite`: sends a close first, where there is a way. */
  end(isPolite: boolean): Promise<void>
}

/** Receives what a transport delivers, as it arrives. */
export interface TransportListener {
  /** What was to be sent first has been sent. */
  opened(): void
  /** The other side is there, though it has nothing to send. */
  beat(): void
  frame(frame: string): void
  /** A binary frame; the bytes are good only during the call. */
  bytes(frame: Uint8Array): void
  /** The other side ended the stream: with the close code of a WebSocket; null where there is none. */
  closed(code: number | null): void
  /** The answer was no stream. The body is cut to a few thousand characters, and empty for a WebSocket. */
  refused(answer: HttpReply): void
  failed(fault: StreamFault): void
}

export interface TransportLimits {
  /** Until the socket is open. */
  readonly handshakeMs: number
  /** Bytes of a frame. */
  readonly frameMax: number
}
