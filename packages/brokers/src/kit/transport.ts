/** The transport of a connection: a WebSocket (`web-socket.ts`), or an HTTP response that never ends (`line-transport.ts`). */

import type { HttpReply } from './http.ts'
import type { StreamFault } from './stream-fault.ts'

export interface Transport {
  send(frame: string | Uint8Array): void
  /**
   * Called once. Resolves when the socket is closed; nothing is delivered after the call. `isPolite`: sends a close frame first, if the
   * transport has one.
   */
  end(isPolite: boolean): Promise<void>
}

/** Receives what a transport delivers, as it arrives. */
export interface TransportListener {
  /** The initial frames have been sent, or the answer has begun. */
  opened(): void
  /** The other side is alive, but has nothing to send. */
  beat(): void
  frame(frame: string): void
  /** A binary frame; the bytes are valid only during the call. */
  bytes(frame: Uint8Array): void
  /** The other side ended the stream: with the close code of a WebSocket; null where there is none. */
  closed(code: number | null): void
  /** The answer was not a stream. The body is cut to a few thousand characters, and empty for a WebSocket. */
  refused(answer: HttpReply): void
  failed(fault: StreamFault): void
}

export interface TransportLimits {
  /** Time until the socket is open. */
  readonly handshakeMs: number
  /** Bytes of a frame. */
  readonly frameMax: number
}
