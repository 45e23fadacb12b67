/** The protocol of the sandbox's account stream: log in, count the events, notice what is missing, keep the token fresh. */

import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { accountState } from '../kit/event-streams.ts'
import { readJson } from '../kit/json.ts'
import { field, integer, member, nested, object, text, texts, timestamp, type Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import { Sequence, type Sequenced } from '../kit/sequence.ts'
import type { Closing, Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import { parseBalance, parseOrder } from './parse.ts'
import { StreamToken } from './stream-token.ts'

/** Events that may wait for an earlier one. The next heartbeat decides anyway. */
const AHEAD_MAX = 64
const HEARTBEAT_MS_LEAST = 10
/** Orders remembered as cancelling or amending; beyond that a release is found by look-up only. */
const BUSY_MAX = 10_000
/** Positions are read when the sandbox says that they changed, but not more often than this for an account. */
const POSITIONS_SPACING_MS = 250

export interface StreamOptions {
  readonly url: string
  readonly tokens: TokenSource
  readonly clock: Clock
  readonly log: Log
  /** Reads all positions of an account as an event. */
  readonly positions: (account: string, signal: AbortSignal) => Promise<AccountEvent>
}

export class SandboxStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: StreamOptions

  constructor(options: StreamOptions) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<SandboxProtocol> {
    return new SandboxProtocol(this.#options, await StreamToken.of(this.#options.tokens, signal))
  }
}

/** One connection. Its state is the number of the last event, the login's accounts and the token that was sent. */
class SandboxProtocol implements StreamProtocol<AccountEvent> {
  readonly #options: StreamOptions
  readonly #token: StreamToken
  #connection: Connection<AccountEvent> | null = null
  #events: Sequence<Wire> | null = null
  #accounts: readonly string[] = []
  #positions: Refetch | null = null
  /** Orders with a request under way; made for the first. */
  #busy: Set<string> | null = null

  constructor(options: StreamOptions, token: StreamToken) {
    this.#options = options
    this.#token = token
  }

  get url(): string {
    return this.#options.url
  }

  /** No `resume`: the reader takes a snapshot after every gap, and then there is nothing left to replay. */
  get hello(): readonly string[] {
    return [JSON.stringify({ op: 'login', token: this.#token.text })]
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    const message = object(readJson(frame), 'message')
    const ev = text(message, 'ev', 32)
    if (this.#events === null) return this.#answered(ev, message)
    switch (ev) {
      case 'heartbeat':
        return this.#released(this.#events.settle(integer(message, 'seq')))
      case 'order':
      case 'fill':
      case 'position':
      case 'balance':
        return this.#released(this.#events.offer(integer(message, 'seq'), message))
      case 'pong':
      case 'token_ok':
        return []
      default:
        // An event that is counted but not understood may still be skipped without a gap.
        return field(message, 'seq') === undefined ? [] : this.#released(this.#events.offer(integer(message, 'seq'), message))
    }
  }

  maintain(connection: Connection<AccountEvent>): Promise<number> {
    this.#connection = connection
    return this.#token.maintain(connection)
  }

  async ended(): Promise<void> {
    await this.#positions?.[Symbol.asyncDispose]()
  }

  closed(code: number): Closing | null {
    return this.#token.closed(code)
  }

  #answered(ev: string, message: Wire): readonly StreamMessage<AccountEvent>[] {
    if (ev === 'denied') {
      const code = text(message, 'code', 64)
      // A refused token is settled when the socket closes, which the sandbox does next.
      return code === 'token_invalid' ? [] : [{ type: 'over', cause: 'refused', reason: `the sandbox denied the stream (${code})` }]
    }
    member({ ev }, 'ev', { ready: true })
    this.#events = new Sequence(integer(message, 'seq'), AHEAD_MAX)
    this.#accounts = texts(message, 'accounts')
    return [{ type: 'live', heartbeatMs: Math.max(HEARTBEAT_MS_LEAST, integer(message, 'heartbeat_ms')) }]
  }

  #released({ items, hasGap }: Sequenced<Wire>): readonly StreamMessage<AccountEvent>[] {
    const messages: StreamMessage<AccountEvent>[] = hasGap
      ? [{ type: 'gap', cause: 'missing', reason: 'the sandbox counted an event that did not arrive' }]
      : []
    for (const item of items) messages.push(...this.#event(item))
    return messages
  }

  #event(message: Wire): readonly StreamMessage<AccountEvent>[] {
    switch (field(message, 'ev')) {
      case 'order': {
        const report = this.#withRelease(parseOrder(nested(message, 'order')))
        return this.#isOurs(report.brokerAccountId) ? [{ type: 'event', event: { type: 'order', report } }] : []
      }
      case 'balance': {
        const asOf = timestamp(message, 'as_of')
        const balance = parseBalance(nested(message, 'balance'), asOf)
        const { brokerAccountId } = balance
        // An account has one currency, so one balance is all of them.
        return this.#isOurs(brokerAccountId)
          ? [{ type: 'event', event: { type: 'balances', brokerAccountId, balances: { items: [balance], asOf } } }]
          : []
      }
      case 'position': {
        const account = text(nested(message, 'position'), 'account')
        if (this.#isOurs(account)) this.#positionsChanged(account)
        return []
      }
      // A fill comes again inside the order that follows it.
      default:
        return []
    }
  }

  #positionsChanged(account: string): void {
    const connection = this.#connection
    if (connection === null) return
    const { clock, positions, log } = this.#options
    this.#positions ??= new Refetch({
      clock,
      spacingMs: POSITIONS_SPACING_MS,
      read: async (changed, within) => connection.emit({ type: 'event', event: await positions(changed, within) }),
      failed: (changed, error) => {
        log.warn('positions that changed could not be read', {
          account: changed,
          reason: error instanceof Error ? error.message : 'unknown'
        })
        connection.emit({ type: 'gap', cause: 'missing', reason: 'positions that changed could not be read' })
      }
    })
    this.#positions.changed(account)
  }

  /** An order seen cancelling or amending that is open again: the sandbox refused the request, so it is over. */
  #withRelease(report: OrderReport): OrderReport {
    const { brokerOrderId, status } = report
    if (status === 'pending_cancel' || status === 'pending_replace') {
      this.#busy ??= new Set()
      if (this.#busy.size < BUSY_MAX) this.#busy.add(brokerOrderId)
      return report
    }
    const wasBusy = this.#busy?.delete(brokerOrderId) === true
    return wasBusy && (status === 'working' || status === 'partially_filled') ? { ...report, releases: true } : report
  }

  #isOurs(account: string): boolean {
    if (this.#accounts.includes(account)) return true
    this.#options.log.error('the sandbox streamed an event of an account that is not of this login; dropped', { account })
    return false
  }
}
