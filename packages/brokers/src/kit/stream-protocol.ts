/** The interface of a broker's stream protocol: what it sends, and how it interprets what it receives. */

import type { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { HttpReply } from './http.ts'
import type { LineStream } from './line-transport.ts'

/** How a protocol interprets a frame. */
export type StreamMessage<Event> =
  /** The broker has accepted us and states its heartbeat interval. */
  | { readonly type: 'live'; readonly heartbeatMs: number }
  | { readonly type: 'event'; readonly event: Event }
  /** Something was missed, but the connection is still usable. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string }
  /** This connection is over. With `fault` the session ends with it. */
  | { readonly type: 'over'; readonly cause: GapCause; readonly reason: string; readonly fault?: BrokerFault }

export type Frame = string | Uint8Array

/** The protocol of one connection; a new one is created for each. */
export interface StreamProtocol<Event> {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Set: the stream is the response to a GET of `url`, one frame per line, and nothing can be sent. Absent: it is a WebSocket. */
  readonly lines?: LineStream
  /** Some brokers send their text in binary frames. Without this and {@link onBinaryFrame} a binary frame ends the connection. */
  readonly textIsBinary?: boolean
  /** Frames to send as soon as the socket is open: text, or bytes as a binary frame. */
  readonly hello: readonly Frame[]
  /**
   * For a broker that is silent while nothing happens: a WebSocket ping this often; pings and pongs then count as received data. The
   * heartbeat interval in `live` must not be shorter.
   */
  readonly pingMs?: number
  /**
   * The socket is open and `hello` was sent, or the stream of lines has begun. For a broker that does not answer `hello`: the stream is
   * live from then on.
   */
  opened?(connection: Connection<Event>): void
  /** Reads one frame. An exception ends the connection, because an unreadable frame may have been an execution. */
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
  /** What an answer that is not a stream means. Null: the broker refuses the stream for now. */
  refused?(answer: HttpReply): Closing | null
  /** Ends what the protocol started in addition to the connection. */
  ended?(): Promise<void>
}

export interface Closing {
  readonly cause: GapCause
  /** Recovery before the next connection, such as getting another token. @throws BrokerFault */
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
  /**
   * The key of the state that an event carries, so that a slow reader receives only the newest; null for events that must all be delivered.
   */
  stateOf?(event: Event): string | null
}
