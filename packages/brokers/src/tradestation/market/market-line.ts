/** One stream of market data, kept open: its records go to whoever follows it, and what ends it is told. */

import type { BrokerFault, GapCause } from '@trunkline/core/ports/broker'
import type { RateBudget } from '../../kit/budget.ts'
import { faultOf } from '../../kit/calls.ts'
import type { Conversation, Heard } from '../../kit/conversation.ts'
import { readJson } from '../../kit/json.ts'
import { KeptLine, type LineOptions } from '../../kit/kept-line.ts'
import { object, type Wire } from '../../kit/parse.ts'
import type { Present } from '../../kit/present.ts'
import { brokerWords, errorOf, isTokenRefused } from '../answers.ts'
import { opened, type StreamDeps, told } from '../stream.ts'
import { timeOf } from './bars.ts'

export interface MarketLineOptions extends StreamDeps {
  readonly line: LineOptions
  readonly present: Present
}

/** Who follows a stream. */
export interface MarketHearer {
  /** Any line but heartbeats and errors. @throws Malformed */
  record(wire: Wire): void
  /** For a stream of several symbols: one of them will not be streamed. */
  failed?(symbol: string, message: string): void
  /** The broker is heard, and has nothing else to tell. */
  heartbeat(): void
  lost(cause: GapCause, reason: string): void
  /** The broker will not stream this. Nothing follows. */
  refused(message: string): void
}

/** Refusals of the token in a row, the first answered with another token or a proof that it is good, that are about a scope the login lacks. */
const UNAUTHORIZED_MAX = 2
/** Statuses that are about what was asked for, and not about the moment. */
const LASTING = new Set([400, 403, 404, 501])
/** Of errors in a stream's own lines, those that pass: it is asked for again. */
const PASSING = new Set(['GoAway', 'DualLogon', 'InternalServerError', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests'])

const NOTHING: readonly Heard<never>[] = []

export class MarketLine implements AsyncDisposable {
  readonly #line: KeptLine<never>
  readonly #running: Promise<void>
  readonly #present: Present
  #isOver = false

  /** `opens` are the quotas that each opening of the stream counts for. */
  constructor(path: string, hearer: MarketHearer, opens: RateBudget, options: MarketLineOptions) {
    this.#present = options.present
    const refuse = (message: string) => {
      if (this.#isOver) return
      this.#stop()
      hearer.refused(message)
    }
    let unauthorized = 0
    const begin = async (signal: AbortSignal): Promise<Conversation<never>> => {
      await opens.take('read', signal).catch((cause: unknown) => Promise.reject(faultOf(cause)))
      const address = await opened(options, path, signal)
      return {
        ...address,
        hear: this.#hearing(hearer, refuse, [{ type: 'live', heartbeatMs: options.heartbeatMs }]),
        refused: answer => {
          if (isTokenRefused(answer)) unauthorized += 1
          if (unauthorized >= UNAUTHORIZED_MAX || LASTING.has(answer.status))
            refuse(brokerWords(answer) || `the broker answered ${answer.status}`)
          return address.refused?.(answer) ?? null
        }
      }
    }
    this.#line = new KeptLine<never>({ begin }, options.line, {
      live: () => {
        unauthorized = 0
      },
      event: () => undefined,
      gap: (cause, reason) => {
        if (!this.#isOver) hearer.lost(cause, reason)
      }
    })
    this.#running = this.#line.run().catch((fault: BrokerFault) => {
      if (!this.#isOver) hearer.lost('token', fault.message)
    })
  }

  /** Nobody is told anything any more. Resolves once the socket is gone. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    return this.#running
  }

  #stop(): void {
    this.#isOver = true
    this.#line.stop()
  }

  #hearing(
    hearer: MarketHearer,
    refuse: (message: string) => void,
    live: readonly Heard<never>[]
  ): (frame: string) => readonly Heard<never>[] {
    let isFirst = true
    return frame => {
      const wire = object(readJson(frame, { numbers: 'text' }), 'line')
      const what = told(wire)
      if (this.#isOver) return NOTHING
      if (what.type === 'over') {
        // An error that names one of several symbols concerns that one, and the stream goes on.
        if (hearer.failed !== undefined && typeof wire.Symbol === 'string') hearer.failed(wire.Symbol, errorOf(wire).message)
        else if (what.error === null || PASSING.has(what.error)) return [what.heard]
        else refuse(errorOf(wire).message)
      } else if (what.type === 'record') hearer.record(wire)
      else if (what.type === 'heartbeat') {
        if (wire.Timestamp !== undefined) this.#present.tell(timeOf(wire, 'Timestamp'))
        hearer.heartbeat()
      }
      if (!isFirst) return NOTHING
      isFirst = false
      return live
    }
  }
}
