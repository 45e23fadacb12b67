/** One stream of market data, kept open: its records go to its listener, and so does what ends it. */

import type { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { GapCause } from '@trunkline/core/ports/gap'
import { faultOf } from '../../kit/calls.ts'
import { readJson } from '../../kit/json.ts'
import type { MarketClock } from '../../kit/market-clock.ts'
import { object, type Wire } from '../../kit/parse.ts'
import type { RateLimiter } from '../../kit/rate-limiter.ts'
import { ReconnectingStream } from '../../kit/reconnecting-stream.ts'
import { lineAddress } from '../../kit/runtime/line-streams.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import type { StreamMessage, StreamProtocol } from '../../kit/stream-protocol.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { lineOf, linesAt } from '../account-stream.ts'
import { errorMessageOf, errorOf, isTokenRefused } from '../quirks.ts'
import { timeOf } from './bars.ts'

export interface MarketConnectionOptions {
  readonly apiUrl: string
  readonly tokens: TokenSource
  readonly clock: Clock
  readonly heartbeatMs: number
  readonly connection: ConnectionOptions
  readonly marketClock: MarketClock
}

/** Who follows a stream. */
export interface MarketListener {
  /** Any line but heartbeats and errors. @throws Malformed */
  record(wire: Wire): void
  /** For a stream of several symbols: one of them will not be streamed. */
  failed?(symbol: string, message: string): void
  /** A heartbeat of the broker: it has nothing else to send. */
  heartbeat(): void
  lost(cause: GapCause, reason: string): void
  /** The broker will not stream this. Nothing follows. */
  refused(message: string): void
}

/** Refusals of the token in a row, the first answered with another token or a proof that it is good, that are about a scope the login lacks. */
const UNAUTHORIZED_MAX = 2
/** Statuses that are about the request, and not about the moment. */
const LASTING = new Set([400, 403, 404, 501])
/** Of errors in a stream's own lines, those that pass: it is requested again. */
const PASSING = new Set(['GoAway', 'DualLogon', 'InternalServerError', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests'])

const NOTHING: readonly StreamMessage<never>[] = []

export class MarketConnection implements AsyncDisposable {
  readonly #stream: ReconnectingStream<never>
  readonly #running: Promise<void>
  readonly #marketClock: MarketClock
  #isOver = false

  /** `opens` are the quotas that each opening of the stream counts for. */
  constructor(path: string, listener: MarketListener, opens: RateLimiter, options: MarketConnectionOptions) {
    this.#marketClock = options.marketClock
    const refuse = (message: string) => {
      if (this.#isOver) return
      this.#stop()
      listener.refused(message)
    }
    let unauthorized = 0
    const begin = async (signal: AbortSignal): Promise<StreamProtocol<never>> => {
      await opens.take('read', signal).catch((cause: unknown) => Promise.reject(faultOf(cause)))
      const address = await lineAddress(linesAt(options.apiUrl), path, options, signal)
      return {
        ...address,
        onFrame: this.#frameReader(listener, refuse, [{ type: 'live', heartbeatMs: options.heartbeatMs }]),
        refused: answer => {
          if (isTokenRefused(answer)) unauthorized += 1
          if (unauthorized >= UNAUTHORIZED_MAX || LASTING.has(answer.status))
            refuse(errorMessageOf(answer) || `the broker answered ${answer.status}`)
          return address.refused(answer)
        }
      }
    }
    this.#stream = new ReconnectingStream<never>({ begin }, options.connection, {
      live: () => {
        unauthorized = 0
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

  #frameReader(
    listener: MarketListener,
    refuse: (message: string) => void,
    live: readonly StreamMessage<never>[]
  ): (frame: string) => readonly StreamMessage<never>[] {
    let isFirst = true
    return frame => {
      const wire = object(readJson(frame, { numbers: 'text' }), 'line')
      const parsed = lineOf(wire)
      if (this.#isOver) return NOTHING
      if (parsed.type === 'over') {
        // An error that names one of several symbols concerns that one, and the stream goes on.
        if (listener.failed !== undefined && typeof wire.Symbol === 'string') listener.failed(wire.Symbol, errorOf(wire).message)
        else if (parsed.error === null || PASSING.has(parsed.error.code))
          return [{ type: 'over', cause: parsed.error === null ? 'lost' : 'refused', reason: parsed.reason }]
        else refuse(errorOf(wire).message)
      } else if (parsed.type === 'record') listener.record(wire)
      else if (parsed.type === 'heartbeat') {
        if (wire.Timestamp !== undefined) this.#marketClock.sync(timeOf(wire, 'Timestamp'))
        listener.heartbeat()
      }
      if (!isFirst) return NOTHING
      isFirst = false
      return live
    }
  }
}
