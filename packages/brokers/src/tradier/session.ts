/** The protocol of Tradier's account stream: a session of five minutes to begin with, no acknowledgement, no replay, and events with few fields. */

import { ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { accountState } from '../kit/event-streams.ts'
import { readJson } from '../kit/json.ts'
import { displayTextOrNull, field, object, text, type Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { type KnownOrders, merged } from './known-orders.ts'
import { lacksFillTotals } from './orders.ts'
import { textOf } from './wire.ts'

/** A request without an error within this time is taken to be accepted. */
const SETTLED_MS = 500
/** From one reading of the same order to the next, and of an account's positions and balances. */
const ORDER_SPACING_MS = 1_000
const ACCOUNT_SPACING_MS = 2_000
/** Readings of an order that is reported filled without quantities; the mirror's own come later. */
const UNREPORTED_MAX = 20
/** Orders of which the stream remembers something. */
const ORDERS_MAX = 5_000

export interface StreamReads {
  order(account: string, order: string, signal: AbortSignal): Promise<readonly OrderReport[]>
  /** Positions and balances of an account, as events. */
  account(account: string, signal: AbortSignal): Promise<readonly AccountEvent[]>
}

export interface StreamOptions {
  /** Base of the stream's addresses; the one that an answer names is not followed. */
  readonly url: string
  /** Between two signs of life. */
  readonly heartbeatMs: number
  readonly clock: Clock
  readonly log: Log
  readonly unknownValues: UnknownValueCounter
  readonly known: KnownOrders
  /** Makes a new session, which ends the user's other one. @throws BrokerFault */
  readonly session: (signal: AbortSignal) => Promise<string>
  readonly reads: StreamReads
}

export class TradierStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: StreamOptions

  constructor(options: StreamOptions) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<AccountProtocol> {
    return new AccountProtocol(this.#options, await this.#options.session(signal))
  }
}

class AccountProtocol implements StreamProtocol<AccountEvent> {
  readonly url: string
  readonly hello: readonly string[]
  readonly #options: StreamOptions
  #connection: Connection<AccountEvent> | null = null
  #settled: Disposable | null = null
  #isLive = false
  readonly #orders: Refetch
  readonly #accounts: Refetch
  readonly #unreported = new Map<string, number>()
  /** How much of an order was filled and whether it was open, as last published. */
  readonly #standings = new Map<string, string>()

  constructor(options: StreamOptions, session: string) {
    const { clock } = options
    this.#options = options
    this.url = `${options.url}/accounts/events`
    this.hello = [JSON.stringify({ events: ['order'], sessionid: session, excludeAccounts: [] })]
    this.#orders = new Refetch({
      clock,
      spacingMs: ORDER_SPACING_MS,
      read: (key, signal) => this.#readOrder(key, signal),
      failed: (key, error) => this.#missed('an order that changed', key, error)
    })
    this.#accounts = new Refetch({
      clock,
      spacingMs: ACCOUNT_SPACING_MS,
      read: async (account, signal) => {
        for (const event of await options.reads.account(account, signal)) this.#connection?.emit({ type: 'event', event })
      },
      failed: (account, error) => this.#missed('an account that changed', account, error)
    })
  }

  /** Tradier does not acknowledge a session that it accepts. */
  opened(connection: Connection<AccountEvent>): void {
    this.#connection = connection
    this.#settled = this.#options.clock.alarm(SETTLED_MS, () => {
      for (const message of this.#goLive()) connection.emit(message)
    })
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    return frame
      .split('\n')
      .filter(line => line.trim() !== '')
      .flatMap(line => this.#receive(object(readJson(line, { numbers: 'text' }), 'message')))
  }

  async ended(): Promise<void> {
    this.#settled?.[Symbol.dispose]()
    await Promise.all([this.#orders[Symbol.asyncDispose](), this.#accounts[Symbol.asyncDispose]()])
  }

  #receive(message: Wire): readonly StreamMessage<AccountEvent>[] {
    const complaint = displayTextOrNull(message, 'error')
    if (complaint !== null) return [{ type: 'over', cause: 'refused', reason: `Tradier refused the account stream: ${complaint}` }]
    const events = text(message, 'event', 32) === 'order' ? this.#order(message) : []
    return [...this.#goLive(), ...events.map(event => ({ type: 'event', event }) as const)]
  }

  /** The first message is proof as well. */
  #goLive(): readonly StreamMessage<AccountEvent>[] {
    if (this.#isLive) return []
    this.#isLive = true
    return [{ type: 'live', heartbeatMs: this.#options.heartbeatMs }]
  }

  #order(event: Wire): readonly AccountEvent[] {
    const account = text(event, 'account', 64)
    const parent = textOf(event, 'parent_id')
    const id = parent ?? text(event, 'id', 64)
    const known = parent === null ? this.#options.known.get(account, id) : undefined
    const report = known === undefined ? 'read' : this.#merged(known, event)
    if (report === 'read') {
      this.#orders.changed(`${account} ${id}`)
      return []
    }
    return this.#report(report)
  }

  /** An unknown status is counted; what it means for the order is unknown, so the stream has a gap. */
  #merged(known: OrderReport, event: Wire): ReturnType<typeof merged> {
    try {
      return merged(known, event)
    } catch (error) {
      this.#options.unknownValues.countIfUnknown(error)
      throw error
    }
  }

  #report(report: OrderReport): readonly AccountEvent[] {
    const { brokerAccountId: account, brokerOrderId: id } = report
    this.#options.known.put(report)
    if (lacksFillTotals(report)) {
      const times = (this.#unreported.get(id) ?? 0) + 1
      if (this.#unreported.size < ORDERS_MAX) this.#unreported.set(id, times)
      if (times <= UNREPORTED_MAX) this.#orders.changed(`${account} ${id}`)
    } else this.#unreported.delete(id)
    // What is filled has changed what is held; what is over holds nothing back any more. Reads know of it before the stream does.
    const standing = `${report.filledTotal?.quantity ?? ZERO} ${isOpen(report.status)}`
    const before = this.#standings.get(id) ?? `${ZERO} true`
    if (this.#standings.size >= ORDERS_MAX) this.#standings.clear()
    this.#standings.set(id, standing)
    if (standing !== before) this.#accounts.changed(account)
    return [{ type: 'order', report }]
  }

  async #readOrder(key: string, signal: AbortSignal): Promise<void> {
    const [account = '', id = ''] = key.split(' ')
    for (const report of await this.#options.reads.order(account, id, signal)) {
      for (const event of this.#report(report)) this.#connection?.emit({ type: 'event', event })
    }
  }

  #missed(what: string, key: string, error: unknown): void {
    const reason = `${what} could not be read`
    this.#options.log.warn(reason, { key, reason: error instanceof Error ? error.message : 'unknown' })
    this.#connection?.emit({ type: 'gap', cause: 'missing', reason })
  }
}

/** The id of a session that may be connected to for five minutes. @throws Malformed */
export function sessionOf(answer: Wire): string {
  return text(object(field(answer, 'stream'), 'stream'), 'sessionid', 200)
}
