/**
 * An account stream by mode `hints`: its events show that an order changed and leave out most of the order. What is known of the order is merged
 * with the event; where that is not enough, the order is read. Positions and balances are read when an order fills or ends.
 */

import { ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import { accountState } from '../event-streams.ts'
import type { Wire } from '../parse.ts'
import { Refetch } from '../refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../stream-protocol.ts'
import type { Login } from './definition.ts'

/** Reads of an order that the broker reports without its fill totals; the account's own reads come later. */
const UNREPORTED_MAX = 20
/** Orders of which the stream remembers something. */
const ORDERS_MAX = 5_000

export interface HintedStreamDefinition {
  /** Gets the address and the first frames of a new connection. @throws BrokerFault */
  readonly begin: (signal: AbortSignal) => Promise<{ readonly url: string; readonly hello: readonly string[] }>
  /** Between two signs of life, in milliseconds. */
  readonly heartbeatMs: number
  /** A broker that acknowledges nothing has accepted the connection when it has sent a message, or no error for so long. */
  readonly liveAfterMs: number
  /** The messages of a frame. @throws Malformed */
  readonly read: (frame: string) => readonly HintedMessage[]
  /** The order as the event leaves it; `read`: only the order itself can show what happened. @throws Malformed */
  readonly merged: (known: OrderReport, event: Wire) => OrderReport | 'read'
  /** Whether the broker reports a fill and has not sent its quantities yet: the order is read again until it has. */
  readonly lacksTotals: (report: OrderReport) => boolean
  /** From one read of the same order, and of the same account, to the next. */
  readonly orderSpacingMs: number
  readonly accountSpacingMs: number
}

export type HintedMessage =
  /** `event` null: the order has to be read. */
  | { readonly type: 'order'; readonly account: string; readonly brokerOrderId: string; readonly event: Wire | null }
  | { readonly type: 'over'; readonly cause: GapCause; readonly reason: string }
  | { readonly type: 'heartbeat' }

type HintedLogin = Pick<Login<string>, 'tracker' | 'unknownValues' | 'clock' | 'log'> & {
  readonly orders: Pick<Login<string>['orders'], 'held'>
}

export class HintedAccountStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #definition: HintedStreamDefinition
  readonly #login: HintedLogin
  readonly #account: (account: string, signal: AbortSignal) => Promise<readonly AccountEvent[]>

  /** `account` reads positions and balances as events. */
  constructor(
    definition: HintedStreamDefinition,
    login: HintedLogin,
    account: (account: string, signal: AbortSignal) => Promise<readonly AccountEvent[]>
  ) {
    this.#definition = definition
    this.#login = login
    this.#account = account
  }

  async begin(signal: AbortSignal): Promise<StreamProtocol<AccountEvent>> {
    return new HintedProtocol(this.#definition, this.#login, this.#account, await this.#definition.begin(signal))
  }
}

/** One connection. */
class HintedProtocol implements StreamProtocol<AccountEvent> {
  readonly url: string
  readonly hello: readonly string[]
  readonly #definition: HintedStreamDefinition
  readonly #login: HintedLogin
  #connection: Connection<AccountEvent> | null = null
  #accepted: Disposable | null = null
  #isLive = false
  readonly #orders: Refetch
  readonly #accounts: Refetch
  readonly #unreported = new Map<string, number>()
  /** Cum qty of an order and whether it was open, as last published. */
  readonly #published = new Map<string, string>()

  constructor(
    definition: HintedStreamDefinition,
    login: HintedLogin,
    account: (account: string, signal: AbortSignal) => Promise<readonly AccountEvent[]>,
    { url, hello }: { readonly url: string; readonly hello: readonly string[] }
  ) {
    const { clock } = login
    this.#definition = definition
    this.#login = login
    this.url = url
    this.hello = hello
    this.#orders = new Refetch({
      clock,
      spacingMs: definition.orderSpacingMs,
      read: (key, signal) => this.#readOrder(key, signal),
      failed: (key, error) => this.#missed('an order that changed', key, error)
    })
    this.#accounts = new Refetch({
      clock,
      spacingMs: definition.accountSpacingMs,
      read: async (key, signal) => this.#emit(await account(key, signal)),
      failed: (key, error) => this.#missed('an account that changed', key, error)
    })
  }

  opened(connection: Connection<AccountEvent>): void {
    this.#connection = connection
    this.#accepted = this.#login.clock.alarm(this.#definition.liveAfterMs, () => {
      for (const message of this.#goLive()) connection.emit(message)
    })
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    const messages: StreamMessage<AccountEvent>[] = []
    for (const message of this.#definition.read(frame)) {
      if (message.type === 'over') return [...messages, message]
      // The first message proves that the connection was accepted.
      messages.push(...this.#goLive())
      if (message.type === 'order') messages.push(...this.#order(message))
    }
    return messages
  }

  async ended(): Promise<void> {
    this.#accepted?.[Symbol.dispose]()
    await Promise.all([this.#orders[Symbol.asyncDispose](), this.#accounts[Symbol.asyncDispose]()])
  }

  #goLive(): readonly StreamMessage<AccountEvent>[] {
    if (this.#isLive) return []
    this.#isLive = true
    return [{ type: 'live', heartbeatMs: this.#definition.heartbeatMs }]
  }

  #order({ account, brokerOrderId, event }: Extract<HintedMessage, { type: 'order' }>): readonly StreamMessage<AccountEvent>[] {
    const known = event === null ? undefined : this.#login.tracker.get(account, brokerOrderId)
    const report = event === null || known === undefined ? 'read' : this.#merged(known, event)
    if (report !== 'read') return [{ type: 'event', event: this.#report(report) }]
    this.#orders.changed(`${account} ${brokerOrderId}`)
    return []
  }

  /** An unknown status is counted; what it means for the order is unknown, so the stream has a gap. */
  #merged(known: OrderReport, event: Wire): OrderReport | 'read' {
    try {
      return this.#definition.merged(known, event)
    } catch (error) {
      this.#login.unknownValues.countIfUnknown(error)
      throw error
    }
  }

  #report(report: OrderReport): AccountEvent {
    const { brokerAccountId: account, brokerOrderId } = report
    this.#login.tracker.put(report)
    if (this.#definition.lacksTotals(report)) {
      const times = (this.#unreported.get(brokerOrderId) ?? 0) + 1
      if (this.#unreported.size < ORDERS_MAX) this.#unreported.set(brokerOrderId, times)
      if (times <= UNREPORTED_MAX) this.#orders.changed(`${account} ${brokerOrderId}`)
    } else this.#unreported.delete(brokerOrderId)
    // A fill changes positions, and an order that ended holds nothing back any more. Reads may have shown it before the stream does.
    const state = `${report.filledTotal?.quantity ?? ZERO} ${isOpen(report.status)}`
    const before = this.#published.get(brokerOrderId) ?? `${ZERO} true`
    if (this.#published.size >= ORDERS_MAX) this.#published.clear()
    this.#published.set(brokerOrderId, state)
    if (state !== before) this.#accounts.changed(account)
    return { type: 'order', report }
  }

  async #readOrder(key: string, signal: AbortSignal): Promise<void> {
    const [account = '', brokerOrderId = ''] = key.split(' ')
    const reports = await this.#login.orders.held(account, brokerOrderId, signal)
    this.#emit(reports.map(report => this.#report(report)))
  }

  #emit(events: readonly AccountEvent[]): void {
    for (const event of events) this.#connection?.emit({ type: 'event', event })
  }

  #missed(what: string, key: string, error: unknown): void {
    const reason = `${what} could not be read`
    this.#login.log.warn(reason, { key, reason: error instanceof Error ? error.message : 'unknown' })
    this.#connection?.emit({ type: 'gap', cause: 'missing', reason })
  }
}
