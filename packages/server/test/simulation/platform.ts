// A platform that places, modifies, cancels and reads for its users, several things at once, and remembers what it was answered.
import assert from 'node:assert/strict'
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { modifyOrder } from '@trunkline/core/app/orders/modify-order'
import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { placedOrder } from '@trunkline/core/app/orders/placed-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { presentOrder } from '../../src/wire/order.ts'
import type { Chance } from './chance.ts'
import { readBalances, readOrders, readPositions } from './rest.ts'
import type { Login, Owner, Scene } from './scene.ts'
import type { Service } from './service.ts'
import { isPassing } from './stream-client.ts'
import { assertNoOlder, type Witness } from './witness.ts'

const LATELY = 6

interface Request<T> {
  readonly owner: Owner
  readonly what: string
  readonly hasEffect: boolean
  readonly ask: (app: Service['app']) => Promise<T>
  /** Looks up what it led to, where that can be found out. */
  readonly result?: (app: Service['app']) => Promise<T | null>
}

export class Platform {
  /** Every order that a request was answered with. */
  readonly answers: Order[] = []
  readonly #scene: Scene
  readonly #service: () => Service
  readonly #chance: Chance
  readonly #witness: Witness
  readonly #fail: (cause: unknown) => void
  readonly #underWay = new Map<Promise<void>, Service>()
  #orders = 0

  constructor(surroundings: {
    readonly scene: Scene
    readonly service: () => Service
    readonly chance: Chance
    readonly witness: Witness
    readonly fail: (cause: unknown) => void
  }) {
    this.#scene = surroundings.scene
    this.#service = surroundings.service
    this.#chance = surroundings.chance
    this.#witness = surroundings.witness
    this.#fail = surroundings.fail
  }

  /** Whether a request waits for its answer that can still come. */
  get isWaiting(): boolean {
    return [...this.#underWay.values()].some(({ life }) => !life.isOver)
  }

  place({ owner, connection, accounts }: Login): void {
    const chance = this.#chance
    const account = chance.oneOf(accounts)
    if (account === undefined) return
    const clOrdId = this.#name()
    const request: OrderRequest = {
      ...{ side: chance.happens(0.7) ? 'BUY' : 'SELL', type: 'LMT', tif: 'DAY', symbol: chance.happens(0.8) ? 'SPY' : 'QQQ' },
      ...{ instrument: 'STK', notional: null, stopPrice: null, legs: null },
      accountId: account.accountId,
      broker: connection.broker,
      clOrdId: parseClOrdId(clOrdId),
      quantity: parseDecimal(String(chance.whole(1, 20)), 'quantity'),
      limitPrice: parseDecimal('10.00', 'limitPrice')
    }
    this.#ask(
      owner,
      `place ${clOrdId}`,
      app => placeOrder(app, owner.caller, request),
      app => placedOrder(app, owner.caller, request)
    )
  }

  async cancel(login: Login): Promise<void> {
    const order = await this.#someOrder(login)
    if (order === null) return
    this.#ask(login.owner, `cancel ${order.clOrdId}`, app => cancelOrder(app, login.owner.caller, order.accountId, order.orderId))
  }

  async modify(login: Login): Promise<void> {
    const order = await this.#someOrder(login)
    if (order === null) return
    const clOrdId = this.#name()
    const request = {
      newClOrdId: parseClOrdId(clOrdId),
      broker: login.connection.broker,
      quantity: parseDecimal(String(this.#chance.whole(1, 30)), 'quantity'),
      notional: null,
      limitPrice: parseDecimal('11.00', 'limitPrice'),
      stopPrice: null
    }
    this.#ask(login.owner, `modify ${order.clOrdId} to ${clOrdId}`, app =>
      modifyOrder(app, login.owner.caller, order.accountId, order.orderId, request)
    )
  }

  read(owner: Owner): void {
    const kind = this.#chance.weighted({ orders: 4, positions: 2, balances: 1 })
    const before = this.#witness.sightings()
    const what = `read ${kind} of ${owner.user.userId}`
    const read = { orders: readOrders, positions: readPositions, balances: readBalances }[kind]
    const ask = (app: Service['app']) => read(app, owner.caller)
    this.begin({ owner, what, hasEffect: false, ask }, records => {
      if (kind !== 'orders') return `${records.length} ${kind}`
      if (!this.#scene.doomed.has(owner.user.userKey)) assertNoOlder(records, owner.user.userId, before, this.#scene.doomed)
      for (const order of records) this.#witness.saw(owner.user.userId, order)
      return `${records.length} orders`
    })
  }

  #ask(owner: Owner, what: string, ask: Request<Order>['ask'], result?: Request<Order>['result']): void {
    this.begin({ owner, what, hasEffect: true, ask, ...(result && { result }) }, order => {
      this.answers.push(order)
      this.#witness.saw(owner.user.userId, presentOrder(order))
      return order.status
    })
  }

  /** Asks for something. The platform does not wait: several of its requests are under way at once. */
  begin<T>({ owner, what, hasEffect, ask, result }: Request<T>, described: (answer: T) => string): void {
    const { trace } = this.#scene
    const service = this.#service()
    trace.note(what)
    const done: Promise<void> = service
      .ask({ userKey: owner.user.userKey, hasEffect, work: ask, ...(result && { result }) })
      .then(described)
      .then(
        answer => trace.note(`${what}: answered ${answer}`),
        (cause: unknown) => {
          if (!isPassing(cause)) return this.#fail(cause)
          assert.ok(cause instanceof Error)
          trace.note(`${what}: ${'code' in cause ? cause.code : cause.name}`)
        }
      )
      .finally(() => this.#underWay.delete(done))
    this.#underWay.set(done, service)
  }

  #name(): string {
    this.#orders += 1
    // Some names come twice, as they do when a platform repeats itself.
    return `w-${this.#chance.happens(0.05) ? this.#orders - 1 : this.#orders}`
  }

  async #someOrder({ accounts }: Login): Promise<Order | null> {
    const accountIds = accounts.map(({ accountId }) => accountId)
    const page = { limit: 200, edge: null, descending: true } as const
    const { rows } = await this.#scene.store.inner.orders.list({ accountIds }, 'entryTime', page)
    const open = rows.filter(({ status }) => isOpen(status))
    return this.#chance.oneOf((this.#chance.happens(0.85) && open.length > 0 ? open : rows).slice(0, LATELY)) ?? null
  }
}
