/** A broker's stream protocol as the kit sees it: what it sends, and how it interprets what it receives. */

import type { BrokerFault, GapCause } from '@trunkline/core/ports/broker'
import type { HttpReply } from './http.ts'
import type { LineStream } from './line-transport.ts'

/** How a protocol interprets a frame. */
export type StreamMessage<Event> =
  /** The broker has accepted us and states its heartbeat interval. */
  | { readonly type: 'live'; readonly heartbeatMs: number }
  | { readonly type: 'event'; readonly event: Event }
  /** Something was missed, but the connection is good from here on. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string }
  /** This connection is over. With `fault` the session ends with it. */
  | { readonly type: 'over'; readonly cause: GapCause; readonly reason: string; readonly fault?: BrokerFault }

export type Frame = string | Uint8Array

/** The protocol of one connection; a new one is created for each. */
export interface StreamProtocol<Event> {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Set: the stream is the answer to a GET of `url`, a frame a line, on which nothing can be sent. Left out: it is a WebSocket. */
  readonly lines?: LineStream
  /** Some brokers send their text in binary frames. Without this and {@link onBinaryFrame} a binary frame ends the connection. */
  readonly textIsBinary?: boolean
  /** Frames to send as soon as the socket is open: text, or bytes as a binary frame. */
  readonly hello: readonly Frame[]
  /**
   * For a broker that is silent while nothing happens: a WebSocket ping this often, and pings and pongs count as received data. The heartbeat that
   * `live` names must not be shorter.
   */
  readonly pingMs?: number
  /** The socket is open and `hello` was sent: for a broker that does not answer it, and so is live from then on. */
  opened?(connection: Connection<Event>): void
  /** Reads one frame. What it throws ends the connection: a frame that cannot be read may have been an execution. */
  onFrame(frame: string): readonly StreamMessage<Event>[]
  /** Reads one binary frame; the bytes are valid only during the call. As {@link onFrame}. */
  onBinaryFrame?(frame: Uint8Array): readonly StreamMessage<Event>[]
  /**
   * Periodic maintenance, first as soon as the stream is live; returns the milliseconds until the next time. Its failure ends the
   * connection.
   */
  maintain?(connection: Connection<Event>): Promise<number>
  /** What a close code means, for brokers that signal by closing the socket. Null: the connection was lost. */
  closed?(code: number): Closing | null
  /** What an answer that is no stream means. Null: the broker refuses the stream for now. */
  refused?(answer: HttpReply): Closing | null
  /** Ends whatever the protocol started beside the connection. */
  ended?(): Promise<void>
}

export interface Closing {
  readonly cause: GapCause
  /** What has to be done before the next connection, such as getting another token. @throws BrokerFault */
  recover?(signal: AbortSignal): Promise<void>
}

export interface Connection<Event> {
  send(frame: Frame): void
  emit(message: StreamMessage<Event>): void
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal
}

export interface ProtocolFactory<Event> {
  /** Gets what a connection needs. @throws BrokerFault, of which `credentials_rejected` ends the session; StreamFault to name the cause. */
  begin(signal: AbortSignal): Promise<StreamProtocol<Event>>
  /** Names what an event is the newest state of, so that a slow reader gets only the newest; null for events that each count. */
  stateOf?(event: Event): string | null
}
