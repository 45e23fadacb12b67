/**
 * The protocol of the broker's order stream: the orders of today first, then every change. It is known to lose single lines while its
 * heartbeats continue, so what it sent is compared with the list of orders periodically.
 */

import { type AccountEvent, BrokerFault } from '@trunkline/core/ports/broker'
import { accountState } from '../kit/event-streams.ts'
import type { Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import type { ParsedOrder } from './codecs.ts'
import { OrderMemory } from './order-memory.ts'
import { AccountLineReader, type AccountStreamDeps, opened } from './stream.ts'

/** From one comparison with the list to the next, unless the settings say otherwise. */
export const COMPARE_MS = 15_000
/** What the list has and the stream has not sent may still be on its way. */
const ON_ITS_WAY_MS = 2_000
/** Balances of an account are read again after its orders moved, but not more often: a quota of 320 in 5 minutes is shared by all accounts. */
const BALANCES_SPACING_MS = 5_000
const ORDER_SPACING_MS = 500
const NOTHING: readonly StreamMessage<AccountEvent>[] = []

export interface OrdersStreamOptions extends AccountStreamDeps {
  readonly compareMs: number
  /** @throws Malformed */
  readonly parse: (wire: Wire) => ParsedOrder
  /** Today's orders of several accounts, all pages. */
  readonly list: (accounts: string, signal: AbortSignal) => Promise<readonly ParsedOrder[]>
  /** One order as the list has it; null when it has none. */
  readonly order: (account: string, orderId: string, signal: AbortSignal) => Promise<ParsedOrder | null>
  /** All balances of an account as an event. */
  readonly balances: (account: string, signal: AbortSignal) => Promise<AccountEvent>
}

export class OrdersStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: OrdersStreamOptions

  constructor(options: OrdersStreamOptions) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<StreamProtocol<AccountEvent>> {
    const accounts = await this.#options.accountState.streamed(signal)
    const address = await opened(this.#options, `/brokerage/stream/accounts/${accounts}/orders`, signal)
    const protocol = new OrdersProtocol(this.#options, accounts)
    return {
      ...address,
      onFrame: frame => protocol.onFrame(frame),
      maintain: connection => protocol.maintain(connection),
      ended: () => protocol.ended()
    }
  }
}

class OrdersProtocol {
  readonly #options: OrdersStreamOptions
  readonly #accounts: string
  readonly #reader: AccountLineReader
  readonly #memory = new OrderMemory()
  readonly #again: Refetch
  readonly #balances: Refetch
  #connection: Connection<AccountEvent> | null = null

  constructor(options: OrdersStreamOptions, accounts: string) {
    this.#options = options
    this.#accounts = accounts
    this.#reader = new AccountLineReader(options)
    const { clock } = options
    this.#again = new Refetch({
      clock,
      spacingMs: ORDER_SPACING_MS,
      read: (key, signal) => this.#readAgain(key, signal),
      failed: () => this.#missed('an order that changed could not be read')
    })
    this.#balances = new Refetch({
      clock,
      spacingMs: BALANCES_SPACING_MS,
      read: async (account, signal) => this.#connection?.emit({ type: 'event', event: await options.balances(account, signal) }),
      failed: () => this.#missed('balances that changed could not be read')
    })
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    return this.#reader.onFrame(frame, wire => this.#order(wire))
  }

  async maintain(connection: Connection<AccountEvent>): Promise<number> {
    const isFirst = this.#connection === null
    this.#connection = connection
    if (!isFirst) await this.#compare(connection.signal)
    return this.#options.compareMs
  }

  async ended(): Promise<void> {
    await Promise.all([this.#again[Symbol.asyncDispose](), this.#balances[Symbol.asyncDispose]()])
  }

  #order(wire: Wire): readonly StreamMessage<AccountEvent>[] {
    const parsed = this.#options.unknownValues.orNull(wire, this.#options.parse)
    // An order of an unknown kind must not hide the others. Before we are live it was not published.
    if (parsed === null)
      return this.#reader.isLive
        ? [{ type: 'gap', cause: 'malformed', reason: 'an order was streamed with an unknown enum value' }]
        : NOTHING
    const { report, isUnresolved } = parsed
    const { brokerAccountId: account } = report
    if (!this.#options.accountState.isOurs(account)) {
      this.#options.log.error('the broker streamed an order of an account that is not of this login; dropped', { account })
      return NOTHING
    }
    const noted = this.#memory.note(parsed, this.#options.clock.monotonicMs())
    // What was there before is read by the reader, once we are live.
    if (!this.#reader.isLive || noted.kind === 'known') return NOTHING
    this.#balances.changed(account)
    if (noted.kind === 'backwards') return [{ type: 'gap', cause: 'missing', reason: 'an order was sent in an older state than before' }]
    if (!isUnresolved) return [{ type: 'event', event: { type: 'order', report: noted.releases ? { ...report, releases: true } : report } }]
    // An order that is taken off for a moment while it is replaced has not ended.
    this.#again.changed(`${account} ${report.brokerOrderId}`)
    return NOTHING
  }

  async #readAgain(key: string, signal: AbortSignal): Promise<void> {
    const [account = '', orderId = ''] = key.split(' ')
    const parsed = await this.#options.order(account, orderId, signal)
    if (parsed === null) return
    this.#memory.note(parsed, this.#options.clock.monotonicMs())
    this.#connection?.emit({ type: 'event', event: { type: 'order', report: parsed.report } })
  }

  /** What the list has and the stream has not sent, twice in a row, was lost. @throws BrokerFault only when the login is over. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const unreported = new Set((await this.#unreported(signal)).map(({ report }) => report.brokerOrderId))
    if (unreported.size === 0) return
    await clock.sleep(ON_ITS_WAY_MS, signal)
    const lost = (await this.#unreported(signal)).filter(({ report }) => unreported.has(report.brokerOrderId))
    if (lost.length === 0) return
    for (const order of lost) this.#memory.note(order, clock.monotonicMs())
    this.#missed(`the list of orders has ${lost.length} that the stream did not send`)
  }

  async #unreported(signal: AbortSignal): Promise<readonly ParsedOrder[]> {
    const askedMs = this.#options.clock.monotonicMs()
    try {
      const orders = await this.#options.list(this.#accounts, signal)
      return orders.filter(order => !this.#memory.hasReported(order, askedMs))
    } catch (error) {
      if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw error
      // A list that cannot be read now proves nothing about the stream.
      return []
    }
  }

  #missed(reason: string): void {
    this.#connection?.emit({ type: 'gap', cause: 'missing', reason })
  }
}
