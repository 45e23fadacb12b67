import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, OrderId, UserKey } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type AuditEntry, type ChangeResult, CommitUnknown, type LoggedEvent, type OrderChange } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import { KeyedQueue } from '../keyed-queue.ts'

/** Decides an order's next state from its present one; null leaves it unchanged. Must be pure: it may run again over a newer state. */
export type Decision = (order: Order) => Next | null

export interface Next {
  readonly order: Order
  /** False for bookkeeping that is not visible to clients. */
  readonly publish?: boolean
  readonly audit?: AuditEntry
}

/** A value for an order to be replaced and one for its successor. */
export type Pair<T> = readonly [before: T, order: T]

const REMEMBERED_MAX = 20_000
const ACCOUNTS_MAX = 20_000
const TRIES_MAX = 5
/** How many of a user's newest events are searched for the event of a commit whose confirmation was lost. */
const EVENTS_BACK = 64

/**
 * The single writer of orders on this node. Each order has a queue, and its newest state is cached, so that a decision needs no read. A
 * write is conditional on the revision it was made from; if another node wrote first, the decision runs again over the newer state.
 */
export class OrderWriter {
  readonly #deps: Pick<Deps, 'store' | 'bus' | 'log' | 'clock'>
  readonly #changedAt = new Map<AccountId, number>()
  readonly #queue = new KeyedQueue<OrderId>()
  readonly #remembered = new Map<OrderId, Order>()

  constructor(deps: Pick<Deps, 'store' | 'bus' | 'log' | 'clock'>) {
    this.#deps = deps
  }

  /** Stores a new order. @throws ServiceError cl_order_id_duplicate, naming the order that has the id. */
  async open(order: Order, audit: AuditEntry): Promise<Order> {
    await this.#queue.run(order.orderId, () => this.#insert([{ order, overRevision: null, publish: true, audit }]))
    return order
  }

  /** Changes an order by `decide`, after all changes requested before. Returns the newest state; null if there is no such order. */
  async change(orderId: OrderId, decide: Decision): Promise<Order | null> {
    const order = this.#queue.has(orderId) ? undefined : this.#remembered.get(orderId)
    if (order === undefined) return await this.#queue.run(orderId, () => this.#change(orderId, decide, null))
    const next = decide(order)
    // Most reports repeat what is known, and need no turn.
    return next === null ? order : await this.#queue.run(orderId, () => this.#change(orderId, decide, { order, next }))
  }

  /** Stores `successor` and changes the order it is to replace, both or neither. Returns the changed order; null if `decide` declined. */
  changeWith(orderId: OrderId, decide: Decision, successor: Order, audit: AuditEntry): Promise<Order | null> {
    return this.#queue.run(orderId, () =>
      this.#queue.run(successor.orderId, async () => {
        for (let tries = 0; tries < TRIES_MAX; tries += 1) {
          const order = await this.#load(orderId, tries > 0)
          const next = order === null ? null : decide(order)
          if (order === null || next === null) return null
          const change = changeOf(order, next)
          if (await this.#insert([change, { order: successor, overRevision: null, publish: true, audit }])) return change.order
        }
        throw contended(orderId)
      })
    )
  }

  /**
   * Changes an order and its successor by one decision, both or neither; null leaves one unchanged. Returns the newest states of both; null
   * if one of them does not exist.
   */
  changeBoth(beforeId: OrderId, orderId: OrderId, decide: (before: Order, order: Order) => Pair<Next | null>): Promise<Pair<Order> | null> {
    return this.#queue.run(beforeId, () => this.#queue.run(orderId, () => this.#changeBoth(beforeId, orderId, decide)))
  }

  /** The cached state of the order, if there is one. */
  known(orderId: OrderId): Order | undefined {
    return this.#remembered.get(orderId)
  }

  /** The cached state of the order, else the stored one. */
  async find(orderId: OrderId): Promise<Order | null> {
    return this.#remembered.get(orderId) ?? (await this.#deps.store.orders.find(orderId))
  }

  /**
   * The newest state of a user's order; null for another user's order and for an unknown one. Both cost the same look-up: the cache answers
   * for the order's own user only, otherwise response times would reveal that an order exists.
   */
  async findOf(userKey: UserKey, orderId: OrderId): Promise<Order | null> {
    const remembered = this.#remembered.get(orderId)
    if (remembered?.userKey === userKey) return remembered
    const stored = await this.#deps.store.orders.find(orderId)
    return stored?.userKey === userKey ? stored : null
  }

  /** When an order of the account last changed on this node (monotonic clock); null: not since the start, or too long ago. */
  changedAt(accountId: AccountId): number | null {
    return this.#changedAt.get(accountId) ?? null
  }

  /** Drops an order from the cache, because another node may have changed it. */
  forget(orderId: OrderId): void {
    this.#remembered.delete(orderId)
  }

  /** Drops the orders of these users from the cache. */
  forgetUsers(isIncluded: (userKey: UserKey) => boolean): void {
    for (const [orderId, { userKey }] of this.#remembered) if (isIncluded(userKey)) this.#remembered.delete(orderId)
  }

  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  /** `decided`: what was decided before the turn came, of the state at that time. */
  async #change(orderId: OrderId, decide: Decision, decided: { readonly order: Order; readonly next: Next } | null): Promise<Order | null> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const known = tries === 0 ? this.#remembered.get(orderId) : undefined
      const order = known ?? (await this.#load(orderId, true))
      const next = order === null ? null : order === decided?.order ? decided.next : decide(order)
      if (order === null || next === null) return order
      const change = changeOf(order, next)
      const [result] = await this.#record([change])
      if (result?.kind === 'recorded') return change.order
    }
    throw contended(orderId)
  }

  async #changeBoth(
    beforeId: OrderId,
    orderId: OrderId,
    decide: (before: Order, order: Order) => Pair<Next | null>
  ): Promise<Pair<Order> | null> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const before = await this.#load(beforeId, tries > 0)
      const order = await this.#load(orderId, tries > 0)
      if (before === null || order === null) return null
      const [first, second] = decide(before, order)
      const earlier = first === null ? null : changeOf(before, first)
      const later = second === null ? null : changeOf(order, second)
      const changes = [earlier, later].filter(change => change !== null)
      const results = changes.length === 0 ? [] : await this.#record(changes)
      if (results.every(({ kind }) => kind === 'recorded')) return [earlier?.order ?? before, later?.order ?? order]
    }
    throw contended(orderId)
  }

  async #insert(changes: readonly OrderChange[]): Promise<boolean> {
    const results = await this.#record(changes)
    for (const result of results) {
      if (result.kind !== 'duplicate') continue
      throw clOrdIdTaken(result.orderId, changes.length > 1 ? 'new_cl_order_id' : 'cl_order_id')
    }
    if (results.every(result => result.kind === 'recorded')) return true
    if (changes.length > 1) return false
    throw new ServiceError('account_not_found', 'The account was removed by another request just now.')
  }

  async #record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]> {
    let results: readonly ChangeResult[]
    try {
      results = await this.#deps.store.orders.record(changes)
    } catch (cause) {
      if (!(cause instanceof CommitUnknown)) throw cause
      results = await this.#recordedAfterAll(changes, cause)
    }
    results.forEach((result, index) => {
      const order = changes[index]?.order
      if (result.kind !== 'recorded' || order === undefined) return
      this.#remember(order)
      setBounded(this.#changedAt, order.accountId, this.#deps.clock.monotonicMs(), ACCOUNTS_MAX)
      if (result.event !== null) this.#deps.bus.publish({ type: 'events', userKey: order.userKey, events: [result.event] })
    })
    return results
  }

  /** A commit that was not confirmed may have happened, so the stored rows decide. @throws `cause` if they do not answer it either. */
  async #recordedAfterAll(changes: readonly OrderChange[], cause: CommitUnknown): Promise<readonly ChangeResult[]> {
    const stored = await Promise.all(changes.map(({ order }) => this.#deps.store.orders.find(order.orderId).catch(() => null)))
    if (!changes.every(({ order }, index) => isWritten(order, stored[index] ?? null))) {
      // The stored state is unknown until it is read again.
      for (const { order } of changes) this.#remembered.delete(order.orderId)
      throw cause
    }
    this.#deps.log.warn('a commit that was not confirmed had succeeded', { orderId: changes[0]?.order.orderId ?? null })
    const events = await this.#newestEvents(changes)
    return changes.map(({ order }) => ({ kind: 'recorded', event: events.find(event => isAbout(event, order)) ?? null }))
  }

  /**
   * The events of a commit whose confirmation was lost, to be published now. Clients that follow the log by `seq` find them in any case.
   */
  async #newestEvents(changes: readonly OrderChange[]): Promise<readonly LoggedEvent[]> {
    const userKey = changes.find(({ publish }) => publish)?.order.userKey
    if (userKey === undefined) return []
    try {
      const last = await this.#deps.store.events.last(userKey)
      return await this.#deps.store.events.read(userKey, Math.max(0, last - EVENTS_BACK), EVENTS_BACK)
    } catch (cause) {
      this.#deps.log.warn('the events of an unconfirmed commit could not be read', { orderId: changes[0]?.order.orderId ?? null, cause })
      return []
    }
  }

  async #load(orderId: OrderId, afresh: boolean): Promise<Order | null> {
    if (!afresh) {
      const known = this.#remembered.get(orderId)
      if (known !== undefined) return known
    }
    const order = await this.#deps.store.orders.find(orderId)
    if (order !== null) this.#remember(order)
    else this.#remembered.delete(orderId)
    return order
  }

  #remember(order: Order): void {
    setBounded(this.#remembered, order.orderId, order, REMEMBERED_MAX)
  }
}

function changeOf(order: Order, { order: moved, publish, audit }: Next): OrderChange {
  return { order: { ...moved, revision: order.revision + 1 }, overRevision: order.revision, publish: publish ?? true, audit: audit ?? null }
}

/** The error for a client order id, in the request's `field`, that `orderId` already has. */
export function clOrdIdTaken(orderId: OrderId, field: 'cl_order_id' | 'new_cl_order_id'): ServiceError {
  // The id of a modification may be taken by an order of another trading day.
  const [when, other] = field === 'cl_order_id' ? [' today', 'order'] : ['', 'modification']
  return new ServiceError(
    'cl_order_id_duplicate',
    // A proxy that repeats requests makes the first answer a duplicate: who took a new id for granted would have the order twice.
    `This ${field} was used${when} by order ${orderId}. Read that order first: it may be of this request, sent twice on the way. A new ${field} is another ${other}.`,
    { details: [{ path: field, message: `used by order_id ${orderId}` }], orderId }
  )
}

function contended(orderId: OrderId): ServiceError {
  return new ServiceError('store_unavailable', `Order ${orderId} is being changed by too many requests at once; try again.`, {
    retryAfterSeconds: 1
  })
}

function isAbout(event: LoggedEvent, { orderId, revision }: Order): boolean {
  return event.topic === 'orders' && event.data.orderId === orderId && event.data.revision === revision
}

/** Whether the stored row is this write: any other writer of the same revision would have another time or state. */
function isWritten(order: Order, stored: Order | null): boolean {
  return (
    stored !== null &&
    stored.revision === order.revision &&
    stored.status === order.status &&
    stored.lastModifiedTime === order.lastModifiedTime &&
    stored.systemTime === order.systemTime &&
    stored.submission.state === order.submission.state &&
    stored.submission.since === order.submission.since &&
    fillCount(stored) === fillCount(order)
  )
}

function fillCount({ fills, legs }: Order): number {
  return (legs ?? []).reduce((count, leg) => count + leg.fills.length, fills.length)
}
