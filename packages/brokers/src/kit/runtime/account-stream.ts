/**
 * Account streams of brokers: what a message lacks is read, and a failed read is a gap. Three kinds of messages about orders, which a broker may
 * mix: the whole order as it is now, an event that is merged into what is known of the order, and a hint that the order has to be read.
 */

import { ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../bounded-cache.ts'
import { accountState, type readsAsEvents } from '../event-streams.ts'
import type { Wire } from '../parse.ts'
import { Refetch } from '../refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../stream-protocol.ts'
import type { Login } from './definition.ts'

/** Reads of an order that the broker reports without its fill totals; the account's own reads come later. */
const UNREPORTED_MAX = 20
/** Orders of which a connection remembers something. */
const ORDERS_MAX = 10_000

export interface AccountStreamDefinition {
  /** Gets what a new connection needs. @throws BrokerFault; StreamFault to name the cause */
  readonly begin: (signal: AbortSignal) => Promise<AccountConnection>
  /** Set for a broker that acknowledges nothing: it has accepted the connection when it has sent a message, or no error for so long. */
  readonly unacknowledged?: { readonly liveAfterMs: number; readonly heartbeatMs: number }
  /** From the end of one read of the same order, and of the same account, to the next. */
  readonly orderSpacingMs: number
  readonly accountSpacingMs: number
  /** How events about orders are merged; absent: the broker sends none. */
  readonly events?: {
    /** The order as the event leaves it; `read`: only the order itself can show what happened. @throws Malformed */
    readonly merged: (known: OrderReport, event: Wire) => OrderReport | 'read'
    /** Whether the broker reports a fill and has not sent its quantities yet: the order is read again until it has. */
    readonly lacksTotals: (report: OrderReport) => boolean
  }
}

/** One connection: the broker's own protocol, as a plain object. */
export interface AccountConnection extends Omit<StreamProtocol<AccountEvent>, 'onFrame' | 'onBinaryFrame' | 'ended'> {
  /** @throws Malformed, which ends the connection */
  readonly read: (frame: string) => readonly AccountMessage[]
}

export type AccountMessage =
  | StreamMessage<AccountEvent>
  /** The whole order. One that was cancelling or being replaced and works again was refused that: the report releases it. */
  | { readonly type: 'order'; readonly report: OrderReport }
  | { readonly type: 'order_event'; readonly account: string; readonly brokerOrderId: string; readonly event: Wire }
  | { readonly type: 'order_hint'; readonly account: string; readonly brokerOrderId: string }
  /** Positions, balances, or both. */
  | { readonly type: 'changed'; readonly account: string; readonly what: 'positions' | 'balances' | 'both' }
  | { readonly type: 'heartbeat' }

type StreamLogin = Pick<Login<string>, 'tracker' | 'unknownValues' | 'clock' | 'log'> & {
  readonly orders: Pick<Login<string>['orders'], 'held'>
}
type AccountReads = ReturnType<typeof readsAsEvents>

export class AccountStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #definition: AccountStreamDefinition
  readonly #login: StreamLogin
  readonly #reads: AccountReads

  constructor(definition: AccountStreamDefinition, login: StreamLogin, reads: AccountReads) {
    this.#definition = definition
    this.#login = login
    this.#reads = reads
  }

  async begin(signal: AbortSignal): Promise<StreamProtocol<AccountEvent>> {
    const own = await this.#definition.begin(signal)
    const protocol = new AccountProtocol(this.#definition, this.#login, this.#reads, own.read)
    return {
      ...own,
      opened: connection => {
        protocol.opened(connection)
        own.opened?.(connection)
      },
      onFrame: frame => protocol.onFrame(frame),
      ended: () => protocol.ended()
    }
  }
}

/** One connection. */
class AccountProtocol {
  readonly #definition: AccountStreamDefinition
  readonly #login: StreamLogin
  readonly #read: AccountConnection['read']
  #connection: Connection<AccountEvent> | null = null
  #accepted: Disposable | null = null
  #isLive = false
  readonly #orders: Refetch
  readonly #accounts: Refetch
  /** How often an order was read because its fill totals are missing. */
  readonly #unreported = new BoundedMap<number>(ORDERS_MAX)
  /** Cum qty of an order and whether it was open, as last published. */
  readonly #published = new BoundedMap<string>(ORDERS_MAX)
  /** Orders that are cancelling or being replaced; beyond the bound a release is found by look-up only. */
  readonly #pending = new BoundedMap<true>(ORDERS_MAX)

  constructor(definition: AccountStreamDefinition, login: StreamLogin, reads: AccountReads, read: AccountConnection['read']) {
    const { clock } = login
    this.#definition = definition
    this.#login = login
    this.#read = read
    this.#orders = new Refetch({
      clock,
      spacingMs: definition.orderSpacingMs,
      read: (key, signal) => this.#readOrder(key, signal),
      failed: (key, error) => this.#missed('an order that changed', key, error)
    })
    this.#accounts = new Refetch({
      clock,
      spacingMs: definition.accountSpacingMs,
      read: async (key, signal) => {
        const [what, account] = partsOf(key)
        if (what !== 'balances') this.#emit(await reads.positions(account, signal))
        if (what !== 'positions') this.#emit(await reads.balances(account, signal))
      },
      failed: (key, error) => this.#missed('an account that changed', key, error)
    })
  }

  opened(connection: Connection<AccountEvent>): void {
    this.#connection = connection
    const { unacknowledged } = this.#definition
    if (unacknowledged === undefined) return
    this.#accepted = this.#login.clock.alarm(unacknowledged.liveAfterMs, () => {
      for (const message of this.#accept()) connection.emit(message)
    })
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    const messages: StreamMessage<AccountEvent>[] = []
    for (const message of this.#read(frame)) {
      // A message of an accepted connection proves the acceptance; an end does not.
      if (message.type !== 'over' && !this.#isLive) messages.push(...this.#accept())
      const passed = this.#apply(message)
      if (passed !== null) messages.push(passed)
    }
    return messages
  }

  async ended(): Promise<void> {
    this.#accepted?.[Symbol.dispose]()
    await Promise.all([this.#orders[Symbol.asyncDispose](), this.#accounts[Symbol.asyncDispose]()])
  }

  #accept(): readonly StreamMessage<AccountEvent>[] {
    const { unacknowledged } = this.#definition
    if (this.#isLive || unacknowledged === undefined) return []
    this.#isLive = true
    return [{ type: 'live', heartbeatMs: unacknowledged.heartbeatMs }]
  }

  #apply(message: AccountMessage): StreamMessage<AccountEvent> | null {
    switch (message.type) {
      case 'order':
        return { type: 'event', event: { type: 'order', report: this.#withRelease(message.report) } }
      case 'order_event':
        return this.#orderEvent(message.account, message.brokerOrderId, message.event)
      case 'order_hint':
        this.#orders.changed(keyOf(message.account, message.brokerOrderId))
        return null
      case 'changed':
        this.#accounts.changed(keyOf(message.what, message.account))
        return null
      case 'heartbeat':
        return null
      default:
        return message
    }
  }

  #orderEvent(account: string, brokerOrderId: string, event: Wire): StreamMessage<AccountEvent> | null {
    const known = this.#login.tracker.get(account, brokerOrderId)
    const report = known === undefined ? 'read' : this.#merged(known, event)
    if (report !== 'read') return { type: 'event', event: this.#report(report) }
    this.#orders.changed(keyOf(account, brokerOrderId))
    return null
  }

  /** An unknown status is counted; what it means for the order is unknown, so the stream has a gap. */
  #merged(known: OrderReport, event: Wire): OrderReport | 'read' {
    try {
      return this.#definition.events?.merged(known, event) ?? 'read'
    } catch (error) {
      this.#login.unknownValues.countIfUnknown(error)
      throw error
    }
  }

  #report(report: OrderReport): AccountEvent {
    const { brokerAccountId: account, brokerOrderId } = report
    this.#login.tracker.put(report)
    if (this.#definition.events?.lacksTotals(report) === true) {
      const times = (this.#unreported.get(brokerOrderId) ?? 0) + 1
      this.#unreported.put(brokerOrderId, times)
      if (times <= UNREPORTED_MAX) this.#orders.changed(keyOf(account, brokerOrderId))
    } else this.#unreported.delete(brokerOrderId)
    // A fill changes positions, and an order that ended holds nothing back any more. Reads may have shown it before the stream does.
    const state = `${report.filledTotal?.quantity ?? ZERO} ${isOpen(report.status)}`
    const before = this.#published.get(brokerOrderId) ?? `${ZERO} true`
    this.#published.put(brokerOrderId, state)
    if (state !== before) this.#accounts.changed(keyOf('both', account))
    return { type: 'order', report }
  }

  #withRelease(report: OrderReport): OrderReport {
    const { brokerOrderId, status } = report
    if (status === 'pending_cancel' || status === 'pending_replace') {
      this.#pending.put(brokerOrderId, true)
      return report
    }
    const wasPending = this.#pending.get(brokerOrderId) === true
    this.#pending.delete(brokerOrderId)
    return wasPending && (status === 'working' || status === 'partially_filled') ? { ...report, releases: true } : report
  }

  async #readOrder(key: string, signal: AbortSignal): Promise<void> {
    const [account, brokerOrderId] = partsOf(key)
    for (const report of await this.#login.orders.held(account, brokerOrderId, signal)) this.#emit(this.#report(report))
  }

  #emit(event: AccountEvent): void {
    this.#connection?.emit({ type: 'event', event })
  }

  #missed(what: string, key: string, error: unknown): void {
    const reason = `${what} could not be read`
    this.#login.log.warn(reason, { key, reason: error instanceof Error ? error.message : 'unknown' })
    this.#connection?.emit({ type: 'gap', cause: 'missing', reason })
  }
}

function keyOf(first: string, second: string): string {
  return `${first} ${second}`
}

function partsOf(key: string): readonly [string, string] {
  const [first = '', second = ''] = key.split(' ')
  return [first, second]
}
