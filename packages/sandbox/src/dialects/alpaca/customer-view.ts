/** A customer as Alpaca shows it: one account, which combines the sandbox's margin account and its crypto account. */

import {
  type Account,
  hasSize,
  type Instrument,
  MARKETS,
  type Micros,
  type OrderFilter,
  type OrderView,
  type Phase,
  type PositionView
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { internalIdOf, uuidOf } from '../frame/order-ids.ts'
import { positionSymbol } from './enums.ts'
import { firstWire, type OrderWire, orderWire, type Showing, statusOf } from './order-wire.ts'
import { PendingReplacements } from './pending-replacements.ts'
import { AlpacaProblem, CODES } from './problems.ts'

/** Orders are fetched so many at a time. */
const CHUNK = 200

export class CustomerView {
  /** Replacements that are under way. */
  readonly pendingReplacements: PendingReplacements
  readonly #brokerage: BrokerageView
  readonly #cryptoSymbols: ReadonlyMap<string, string>

  constructor(brokerage: BrokerageView) {
    this.#brokerage = brokerage
    this.pendingReplacements = new PendingReplacements({
      now: () => brokerage.clock.now(),
      newId: brokerage.newId,
      showing: order => this.showing(order)
    })
    const crypto = brokerage.market.instruments.filter(({ kind }) => kind === 'CRYPTO')
    this.#cryptoSymbols = new Map(crypto.map(({ symbol }) => [positionSymbol(symbol), symbol]))
  }

  /** The accounts behind the one: the one for shares and options first, then the crypto account if there is one. */
  accounts(login: string): readonly Account[] {
    const all = this.#brokerage.customers.accountsOf(login)
    const shares = all.find(({ kind }) => kind === 'margin') ?? all.find(({ kind }) => kind === 'cash')
    const crypto = all.find(({ kind }) => kind === 'coin')
    return [shares, crypto].filter(account => account !== undefined)
  }

  accountFor(login: string, { kind }: Pick<Instrument, 'kind'>): string {
    const isCrypto = kind === 'CRYPTO'
    const account = this.accounts(login).find(account => (account.kind === 'coin') === isCrypto)
    if (account === undefined)
      throw new AlpacaProblem(422, CODES.badParameter, `${isCrypto ? 'crypto' : 'us_equity'} orders not allowed for account`)
    return account.id
  }

  /** Whatever trades under a symbol, crypto with or without their slash; futures are not Alpaca's. */
  instrument(symbol: string): Instrument | null {
    const found = this.#brokerage.contracts.find(this.#cryptoSymbols.get(symbol) ?? symbol)
    return found?.kind === 'FUT' ? null : found
  }

  held(login: string, symbol: string): string {
    return this.position(login, symbol)?.quantity ?? '0'
  }

  /** A position that is not flat. */
  position(login: string, symbol: string): PositionView | undefined {
    for (const { id } of this.accounts(login)) {
      const position = this.#brokerage.state.engine.position(id, symbol)
      if (position !== undefined && position.quantity !== '0') return position
    }
    return undefined
  }

  positions(login: string): readonly PositionView[] {
    return this.accounts(login).flatMap(({ id }) => this.#brokerage.state.engine.positions(id))
  }

  /** Visible ones, in the order of the filter. */
  *orders(login: string, filter: OrderFilter): Generator<OrderView> {
    const waiting = this.accounts(login).map(({ id }) => this.#ordersOf(id, filter))
    const heads = waiting.map(orders => orders.next())
    for (;;) {
      let best = -1
      for (const [at, { done, value }] of heads.entries()) {
        if (done === true) continue
        const chosen = heads[best]?.value
        if (chosen === undefined || numberOf(value) > numberOf(chosen) !== (filter.oldestFirst === true)) best = at
      }
      const found = heads[best]?.value
      const source = waiting[best]
      if (found === undefined || source === undefined) return
      heads[best] = source.next()
      yield found
    }
  }

  /** The login's order by its id here, unless it is hidden. */
  find(login: string, id: string): OrderView | undefined {
    const orderId = this.internalId(id)
    return orderId === null ? undefined : this.#visible(this.#brokerage.state.order(this.#ids(login), { orderId }))
  }

  byClientOrderId(login: string, clientOrderId: string): OrderView | undefined {
    return this.#visible(this.#brokerage.state.order(this.#ids(login), { clientOrderId }))
  }

  isUsed(login: string, clientOrderId: string): boolean {
    return (
      this.#brokerage.state.order(this.#ids(login), { clientOrderId }) !== 'unknown' ||
      this.pendingReplacements.byClientOrderId(login, clientOrderId) !== undefined
    )
  }

  idOf(internalId: string): string {
    return this.pendingReplacements.idOf(internalId) ?? uuidOf(internalId)
  }

  internalId(id: string): string | null {
    return this.pendingReplacements.internalId(id) ?? internalIdOf(id, number => this.#brokerage.state.engine.orderId(number))
  }

  wire(order: OrderView): OrderWire {
    return orderWire(order, this.showing(order))
  }

  /** As the answer to a submit shows it. */
  first(order: OrderView): OrderWire {
    return firstWire(order, this.showing(order))
  }

  statusOf(order: OrderView): string {
    return statusOf(order, this.showing(order))
  }

  showing(order: OrderView): Showing {
    const { state } = this.#brokerage
    return { overlay: state.overlay(order.orderId), phase: this.#phaseOf(order), idOf: id => this.idOf(id) }
  }

  phase(symbol: string): Phase {
    const known = this.#brokerage.state.engine.market(symbol)
    if (known !== undefined) return known.phase
    const group = MARKETS.find(name => name === this.#brokerage.contracts.find(symbol)?.market) ?? 'us-equity'
    return this.#brokerage.market.phaseAt(group, this.now()).phase
  }

  now(): Micros {
    return this.#brokerage.clock.now()
  }

  #phaseOf({ symbol, legs }: OrderView): Phase {
    return this.phase(symbol ?? legs?.[0]?.symbol ?? '')
  }

  #ids(login: string): readonly string[] {
    return this.accounts(login).map(({ id }) => id)
  }

  #visible(order: OrderView | 'unknown' | 'forgotten'): OrderView | undefined {
    return typeof order === 'object' && hasSize(order) && !this.#brokerage.publisher.isHidden(order.orderId) ? order : undefined
  }

  *#ordersOf(account: string, filter: OrderFilter): Generator<OrderView, undefined> {
    const { engine } = this.#brokerage.state
    for (let after = filter.after; ; ) {
      const chunk = engine.orders(account, { ...filter, limit: CHUNK, ...(after === undefined ? {} : { after }) })
      for (const order of chunk) if (this.#visible(order) !== undefined) yield order
      after = chunk.at(-1)?.orderId
      if (chunk.length < CHUNK || after === undefined) return undefined
    }
  }
}

/** Of the order among all of the sandbox's. */
export function numberOf({ orderId }: Pick<OrderView, 'orderId'>): number {
  return Number(orderId.slice(orderId.lastIndexOf('-') + 1))
}
