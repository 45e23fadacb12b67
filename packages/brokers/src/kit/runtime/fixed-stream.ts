/** One market stream whose content is fixed when it is opened, kept open: its records go to its listener, and so does what ends it. */

import type { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { GapCause } from '@trunkline/core/ports/gap'
import { faultOf } from '../calls.ts'
import type { HttpReply } from '../http.ts'
import type { MarketClock } from '../market-clock.ts'
import type { Wire } from '../parse.ts'
import type { RateLimiter } from '../rate-limiter.ts'
import { ReconnectingStream } from '../reconnecting-stream.ts'
import type { ConnectionOptions } from '../stream-connection.ts'
import type { StreamMessage, StreamProtocol } from '../stream-protocol.ts'
import type { TokenSource } from '../tokens.ts'
import { type LineStreamsDefinition, lineAddress } from './line-streams.ts'

export interface FixedStreamsDefinition {
  readonly lines: LineStreamsDefinition
  /** The silence that the broker's heartbeats leave at most, in milliseconds. */
  readonly heartbeatMs: number
  /** @throws Malformed */
  readonly read: (frame: string) => FixedStreamMessage
  /** The display message of an answer that is no stream; empty when it has none. */
  readonly errorMessage: (answer: HttpReply) => string
}

export type FixedStreamMessage =
  | { readonly type: 'record'; readonly record: Wire }
  /** `atMs`: the broker's time, milliseconds since the epoch; null: it sends none. */
  | { readonly type: 'heartbeat'; readonly atMs: number | null }
  /** The broker closes the stream, as it does now and then. */
  | { readonly type: 'closing'; readonly reason: string }
  /** `symbol`: the one of several that it is about; `passes`: the stream may be requested again. */
  | { readonly type: 'error'; readonly symbol: string | null; readonly message: string; readonly passes: boolean }

export interface FixedStreamOptions {
  readonly definition: FixedStreamsDefinition
  readonly connection: ConnectionOptions
  readonly tokens: TokenSource
  readonly clock: Clock
  readonly marketClock: MarketClock
  /** Runs something at the end of this turn of the event loop; `setImmediate` unless a test replaces it. */
  readonly schedule?: (work: () => void) => void
}

/** Who follows a stream. */
export interface FixedStreamListener {
  /** @throws Malformed */
  record(record: Wire): void
  /** For a stream of several symbols: one of them will not be streamed. */
  failed?(symbol: string, message: string): void
  /** The broker has nothing else to send. */
  heartbeat(): void
  lost(cause: GapCause, reason: string): void
  /** The broker will not stream this. Nothing follows. */
  refused(message: string): void
}

/**
 * Refusals of the token in a row, the first answered with another token or a proof that it is good, that are about a scope the login lacks.
 */
const UNAUTHORIZED_MAX = 2
/** Statuses that are about the request, and not about the moment. */
const LASTING: ReadonlySet<number> = new Set([400, 403, 404, 501])

const NOTHING: readonly StreamMessage<never>[] = []

export class FixedStream implements AsyncDisposable {
  readonly #options: FixedStreamOptions
  readonly #listener: FixedStreamListener
  readonly #stream: ReconnectingStream<never>
  readonly #running: Promise<void>
  #unauthorized = 0
  #isOver = false

  /** `opens` are the quotas that each opening of the stream counts for. */
  constructor(path: string, listener: FixedStreamListener, opens: RateLimiter, options: FixedStreamOptions) {
    this.#options = options
    this.#listener = listener
    const begin = async (signal: AbortSignal): Promise<StreamProtocol<never>> => {
      await opens.take('read', signal).catch((cause: unknown) => Promise.reject(faultOf(cause)))
      return await this.#begin(path, signal)
    }
    this.#stream = new ReconnectingStream<never>({ begin }, options.connection, {
      live: () => {
        this.#unauthorized = 0
      },
      event: () => undefined,
      gap: (cause, reason) => {
        if (!this.#isOver) listener.lost(cause, reason)
      }
    })
    this.#running = this.#stream.run().catch((fault: BrokerFault) => {
      if (!this.#isOver) listener.lost('token', fault.message)
    })
  }

  /** Nothing is published any more. Resolves once the socket is gone. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    return this.#running
  }

  #stop(): void {
    this.#isOver = true
    this.#stream.stop()
  }

  #refuse(message: string): void {
    if (this.#isOver) return
    this.#stop()
    this.#listener.refused(message)
  }

  async #begin(path: string, signal: AbortSignal): Promise<StreamProtocol<never>> {
    const { lines, heartbeatMs, errorMessage } = this.#options.definition
    const address = await lineAddress(lines, path, this.#options, signal)
    const live: readonly StreamMessage<never>[] = [{ type: 'live', heartbeatMs }]
    let isFirst = true
    return {
      ...address,
      onFrame: frame => {
        const end = this.#received(frame)
        if (end !== null) return [end]
        if (!isFirst) return NOTHING
        isFirst = false
        return this.#isOver ? NOTHING : live
      },
      refused: answer => {
        if (lines.unauthorized(answer)) this.#unauthorized += 1
        if (this.#unauthorized >= UNAUTHORIZED_MAX || LASTING.has(answer.status))
          this.#refuse(errorMessage(answer) || `the broker answered ${answer.status}`)
        return address.refused(answer)
      }
    }
  }

  /** What ends the connection; null: it goes on. @throws Malformed */
  #received(frame: string): StreamMessage<never> | null {
    const message = this.#options.definition.read(frame)
    if (this.#isOver) return null
    switch (message.type) {
      case 'record':
        this.#listener.record(message.record)
        return null
      case 'heartbeat':
        if (message.atMs !== null) this.#options.marketClock.sync(message.atMs)
        this.#listener.heartbeat()
        return null
      case 'closing':
        return { type: 'over', cause: 'lost', reason: message.reason }
      case 'error':
        // What names one of several symbols concerns that one, and the stream goes on.
        if (message.symbol !== null && this.#listener.failed !== undefined) this.#listener.failed(message.symbol, message.message)
        else if (message.passes) return { type: 'over', cause: 'refused', reason: `the broker ended the stream: ${message.message}` }
        else this.#refuse(message.message)
        return null
    }
  }
}
