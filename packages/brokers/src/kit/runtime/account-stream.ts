/**
 * Account streams of brokers: what a message lacks is read, and a failed read is a gap. Five kinds of messages about orders, which a broker
 * may mix: the whole order as it is now, the whole order with totals of what is executed, the whole order as it was when the message was
 * sent, an event that is merged into what is known of the order, and a hint that the order has to be read.
 */

import { ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import { type AccountEvent, BrokerFault, type OrderReport, type PositionReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { BoundedMap } from '../bounded-cache.ts'
import { accountState, type readsAsEvents } from '../event-streams.ts'
import type { Wire } from '../parse.ts'
import { Refetch } from '../refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../stream-protocol.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'
import type { AccountMessage, BalancesEvent } from './account-messages.ts'
import { OpenOrders } from './open-orders.ts'
import type { OrderReads } from './order-reads.ts'
import { type ListedOrders, OrderTotals, type WholeOrder } from './order-totals.ts'
import type { OrderTracker } from './order-tracker.ts'
import { type OrderUpdate, SentOrders } from './sent-orders.ts'
import { SpacedStates } from './spaced-states.ts'
import { StreamedPositions } from './streamed-positions.ts'

/** Reads of an order that the broker reports without its fill totals; the account's own reads come later. */
const UNREPORTED_MAX = 20
/** Orders of which a connection remembers something. */
const ORDERS_MAX = 10_000
const NOTHING: readonly never[] = []
/** Marks the read of an order that was to be cancelled or replaced, and is not. */
const RELEASES = 'releases'

export interface AccountStreamDefinition {
  /** Gets what a new connection needs. @throws BrokerFault; StreamFault to name the cause */
  readonly begin: (signal: AbortSignal) => Promise<AccountConnection>
  /** Set for a broker that acknowledges nothing: it has accepted the connection when it has sent a message, or no error for so long. */
  readonly unacknowledged?: { readonly liveAfterMs: number; readonly heartbeatMs: number }
  /** From the end of one read of the same order, and of the same account, to the next; and from one balance of an account to the next. */
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
  /** Set for a broker that streams only the orders of one account, without numbers, so that silence proves nothing. */
  readonly followed?: FollowedAccount
  /** Set for a broker that sends whole orders with totals: the orders of this connection, as they are read. */
  readonly listed?: ListedOrders
  /** The connection has ended. */
  readonly ended?: () => void
}

export interface FollowedAccount {
  readonly account: string
  /** Positions, balances and open orders are read this often. */
  readonly everyMs: number
  /** Single orders that are open, whatever they hang on. @throws BrokerFault */
  readonly openOrders: (signal: AbortSignal) => Promise<readonly OrderReport[]>
}

interface StreamLogin {
  readonly orders: Pick<OrderReads<string>, 'ordersOf'>
  readonly tracker: OrderTracker
  readonly unknownValues: UnknownValueCounter
  readonly clock: Clock
  readonly log: Log
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
    const { ended, followed, listed, read, ...own } = await this.#definition.begin(signal)
    const protocol = new AccountProtocol(this.#definition, this.#login, this.#reads, { read, listed })
    return {
      ...own,
      ...(followed === undefined ? {} : { maintain: protocol.following(followed) }),
      ...(listed === undefined ? {} : { maintain: protocol.comparing(listed) }),
      opened: connection => {
        protocol.opened(connection)
        own.opened?.(connection)
      },
      onFrame: frame => protocol.onFrame(frame),
      ended: () => {
        ended?.()
        return protocol.ended()
      }
    }
  }
}

class AccountProtocol {
  readonly #definition: AccountStreamDefinition
  readonly #login: StreamLogin
  readonly #own: ConnectionParts
  #connection: Connection<AccountEvent> | null = null
  #accepted: Disposable | null = null
  #isLive = false
  readonly #orders: Refetch
  readonly #accounts: Refetch
  /** How often an order was read because its fill totals are missing. */
  readonly #unreported = new BoundedMap<number>(ORDERS_MAX)
  readonly #sent = new SentOrders(ORDERS_MAX)
  readonly #totals: OrderTotals
  #positions: StreamedPositions | null = null
  readonly #balances: SpacedStates<BalancesEvent>
  /** Cum qty of an order and whether it was open, as last published. */
  readonly #published = new BoundedMap<string>(ORDERS_MAX)
  /** Orders that are cancelling or being replaced; beyond the bound a release is found by look-up only. */
  readonly #pending = new BoundedMap<true>(ORDERS_MAX)

  constructor(definition: AccountStreamDefinition, login: StreamLogin, reads: AccountReads, own: ConnectionParts) {
    const { clock } = login
    this.#definition = definition
    this.#login = login
    this.#own = own
    this.#totals = new OrderTotals(clock)
    this.#balances = new SpacedStates({ clock, spacingMs: definition.accountSpacingMs, publish: event => this.#emit(event) })
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
        if (what !== 'balances') await this.#publishPositions(account, reads.positions(account, signal))
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
    for (const message of this.#own.read(frame)) {
      // A message of an accepted connection proves the acceptance; an end does not.
      if (!this.#isLive && message.type !== 'over') messages.push(...this.#accept())
      if (message.type === 'order_update') this.#updated(message, messages)
      else {
        const passed = this.#apply(message)
        if (passed !== null) messages.push(passed)
      }
    }
    return messages
  }

  /** The maintenance of a connection whose account is followed. Its first time is when it is live, and everything is read then anyway. */
  following({ account, everyMs, openOrders }: FollowedAccount): NonNullable<StreamProtocol<AccountEvent>['maintain']> {
    const open = new OpenOrders({ clock: this.#login.clock, read: openOrders, sent: brokerOrderId => this.#sent.get(brokerOrderId) })
    let isFirst = true
    return async ({ signal }) => {
      if (!isFirst) this.#accounts.changed(keyOf('both', account))
      isFirst = false
      await open.check(signal)
      return everyMs
    }
  }

  /**
   * The maintenance of a connection whose orders are compared with their list. Its first time is when it is live, and all is read then
   * anyway.
   */
  comparing({ compareMs, list }: ListedOrders): NonNullable<StreamProtocol<AccountEvent>['maintain']> {
    let isFirst = true
    return async ({ signal }) => {
      const lost = isFirst ? 0 : await this.#totals.lost(list, signal)
      isFirst = false
      if (lost > 0) this.#gap(`the list of orders has ${lost} that the stream did not send`)
      return compareMs
    }
  }

  async ended(): Promise<void> {
    this.#accepted?.[Symbol.dispose]()
    this.#balances[Symbol.dispose]()
    await Promise.all([this.#orders, this.#accounts, this.#positions].map(part => part?.[Symbol.asyncDispose]()))
  }

  #accept(): readonly StreamMessage<AccountEvent>[] {
    const { unacknowledged } = this.#definition
    if (this.#isLive || unacknowledged === undefined) return NOTHING
    this.#isLive = true
    return [{ type: 'live', heartbeatMs: unacknowledged.heartbeatMs }]
  }

  #apply(message: Exclude<AccountMessage, { readonly type: 'order_update' }>): StreamMessage<AccountEvent> | null {
    switch (message.type) {
      case 'order':
        return { type: 'event', event: { type: 'order', report: this.#withRelease(message.report) } }
      case 'order_totals':
        return this.#orderTotals(message.order)
      case 'position':
        this.#position(message.brokerPositionId, message.position)
        return null
      case 'position_left_out':
        this.#streamedPositions().leaveOut(message.brokerPositionId, message.account, this.#isLive)
        return null
      case 'order_event':
        return this.#orderEvent(message.account, message.brokerOrderId, message.event)
      case 'order_hint':
        this.#orders.changed(`${keyOf(message.account, message.brokerOrderId)}${message.releases === true ? ` ${RELEASES}` : ''}`)
        return null
      case 'changed':
        if (message.what === 'positions') this.#balances.hold(message.account)
        this.#accounts.changed(keyOf(message.what, message.account))
        return null
      case 'balances':
        if (this.#isLive) this.#balances.put(message.balances.brokerAccountId, message.balances)
        return null
      case 'heartbeat':
        return null
      case 'live': {
        const wasLive = this.#isLive
        this.#isLive = true
        return wasLive ? null : message
      }
      case 'gap':
        return this.#isLive ? message : null
      default:
        return message
    }
  }

  #updated(update: OrderUpdate, messages: StreamMessage<AccountEvent>[]): void {
    const { report, isBehind } = this.#sent.next(update)
    if (isBehind) messages.push({ type: 'gap', cause: 'missing', reason: 'an order has filled by more than was reported' })
    if (report !== null) messages.push({ type: 'event', event: { type: 'order', report } })
  }

  #orderTotals(order: WholeOrder): StreamMessage<AccountEvent> | null {
    const { report, isUnresolved } = order
    const { brokerAccountId: account, brokerOrderId } = report
    const noted = this.#totals.note(order)
    if (!this.#isLive || noted.kind === 'known') return null
    this.#accounts.changed(keyOf('balances', account))
    if (noted.kind === 'backwards') return { type: 'gap', cause: 'missing', reason: 'an order was sent in an older state than before' }
    if (!isUnresolved) return { type: 'event', event: { type: 'order', report: noted.releases ? { ...report, releases: true } : report } }
    this.#orders.changed(`${keyOf(account, brokerOrderId)}${noted.releases ? ` ${RELEASES}` : ''}`)
    return null
  }

  #position(id: string, position: PositionReport | null): void {
    const positions = this.#streamedPositions()
    if (position === null) positions.close(id, this.#isLive)
    else positions.put(id, position, this.#isLive)
  }

  #streamedPositions(): StreamedPositions {
    this.#positions ??= new StreamedPositions(this.#login.clock, {
      emit: message => this.#connection?.emit(message),
      read: account => this.#accounts.changed(keyOf('positions', account))
    })
    return this.#positions
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
    return released(report, wasPending)
  }

  async #readOrder(key: string, signal: AbortSignal): Promise<void> {
    const [account, brokerOrderId, releases] = partsOf(key)
    if (this.#own.listed !== undefined) {
      const order = await this.#own.listed.order(account, brokerOrderId, signal)
      if (order === null) return
      const noted = this.#totals.note(order)
      if (noted.kind === 'backwards') this.#gap('an order was read in an older state than it was sent')
      else
        this.#emit({ type: 'order', report: released(order.report, releases === RELEASES || (noted.kind === 'update' && noted.releases)) })
      return
    }
    for (const report of await this.#login.orders.ordersOf(account, brokerOrderId, signal)) {
      if (this.#login.tracker.isOutdated(report)) continue // An event that overtook the answer was published.
      // Of a multi-leg order only its own messages count: the reads after messages of its legs come in between.
      if (report.legs === null) this.#sent.put(report)
      this.#emit(this.#report(released(report, releases === RELEASES)))
    }
  }

  #emit(event: AccountEvent): void {
    this.#connection?.emit({ type: 'event', event })
  }

  /** With balances that were pushed meanwhile: both were changed by one execution, and are stored by one commit then. */
  async #publishPositions(account: string, read: Promise<AccountEvent>): Promise<void> {
    try {
      this.#emit(await read)
    } finally {
      this.#balances.release(account)
    }
  }

  #missed(what: string, key: string, error: unknown): void {
    if (error instanceof BrokerFault && error.kind === 'credentials_rejected') {
      this.#connection?.emit({ type: 'over', cause: 'token', reason: error.message, fault: error })
      return
    }
    const reason = `${what} could not be read`
    this.#login.log.warn(reason, { key, reason: error instanceof Error ? error.message : 'unknown' })
    this.#gap(reason)
  }

  /** Before the connection is live nothing is missed: all is read then. */
  #gap(reason: string): void {
    if (this.#isLive) this.#connection?.emit({ type: 'gap', cause: 'missing', reason })
  }
}

/** The report of an order whose cancel or replacement was refused, if it works again. */
function released(report: OrderReport, wasRefused: boolean): OrderReport {
  return wasRefused && (report.status === 'working' || report.status === 'partially_filled') ? { ...report, releases: true } : report
}

/** What the runtime reads a connection with. */
type ConnectionParts = Pick<AccountConnection, 'read'> & { readonly listed: ListedOrders | undefined }

function keyOf(first: string, second: string): string {
  return `${first} ${second}`
}

function partsOf(key: string): readonly [first: string, second: string, third: string] {
  const [first = '', second = '', third = ''] = key.split(' ')
  return [first, second, third]
}
