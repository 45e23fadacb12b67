/** A customer as Alpaca shows it: one account, which combines the sandbox's margin account and its crypto account. */

import { type Account, hasSize, type Instrument, MARKETS, type OrderFilter, type OrderView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { internalIdOf, uuidOf } from '../frame/order-ids.ts'
import { invalid } from './answers.ts'
import type { Showing } from './order-wire.ts'
import { type OrderKey, PendingReplacements } from './pending-replacements.ts'
import { positionSymbol } from './values.ts'

export class CustomerView {
  readonly brokerage: BrokerageView
  /** Replacements that are under way. */
  readonly pendingReplacements: PendingReplacements
  readonly #cryptoSymbols: ReadonlyMap<string, string>

  constructor(brokerage: BrokerageView) {
    this.brokerage = brokerage
    this.pendingReplacements = new PendingReplacements(brokerage)
    const crypto = brokerage.market.instruments.filter(({ kind }) => kind === 'CRYPTO')
    this.#cryptoSymbols = new Map(crypto.map(({ symbol }) => [positionSymbol(symbol), symbol]))
  }

  /** The accounts behind the one: the one for shares and options first, then the crypto account if there is one. */
  accounts(login: string): readonly Account[] {
    const all = this.brokerage.customers.accountsOf(login)
    const shares = all.find(({ kind }) => kind === 'margin') ?? all.find(({ kind }) => kind === 'cash')
    const crypto = all.find(({ kind }) => kind === 'coin')
    return [shares, crypto].filter(account => account !== undefined)
  }

  accountFor(login: string, kind: Instrument['kind']): string {
    const account = this.accounts(login).find(account => (account.kind === 'coin') === (kind === 'CRYPTO'))
    if (account === undefined) throw invalid('orders not allowed for account')
    return account.id
  }

  /** Practice accounts begin with PA at Alpaca. */
  number(login: string): string {
    return `PA${this.accounts(login)[0]?.number.slice(2) ?? ''}`
  }

  /** Whatever trades under a symbol, crypto with or without their slash; futures are not Alpaca's. */
  instrument(symbol: string): Instrument | null {
    const found = this.brokerage.contracts.find(this.#cryptoSymbols.get(symbol) ?? symbol)
    return found?.kind === 'FUT' ? null : found
  }

  /** Visible ones, in the order of the filter. */
  orders(login: string, filter: OrderFilter): readonly OrderView[] {
    const found = this.accounts(login).flatMap(({ id }) => this.brokerage.state.engine.orders(id, filter))
    const sign = filter.oldestFirst === true ? 1 : -1
    return found.filter(order => this.#visible(order) !== undefined).sort((a, b) => sign * (numberOf(a.orderId) - numberOf(b.orderId)))
  }

  /** The login's order, unless it is hidden. */
  find(login: string, key: OrderKey): OrderView | undefined {
    const ref = 'id' in key ? { orderId: this.internalId(key.id) ?? '' } : key
    return this.#visible(this.brokerage.state.order(this.#ids(login), ref))
  }

  isUsed(login: string, clientOrderId: string): boolean {
    const isKnown = this.brokerage.state.order(this.#ids(login), { clientOrderId }) !== 'unknown'
    return isKnown || this.pendingReplacements.find(login, { clientOrderId }) !== undefined
  }

  internalId(id: string): string | null {
    return this.pendingReplacements.internalId(id) ?? internalIdOf(id, number => this.brokerage.state.engine.orderId(number))
  }

  readonly idOf = (internalId: string): string => this.pendingReplacements.idOf(internalId) ?? uuidOf(internalId)

  showing({ orderId, symbol, legs }: OrderView): Showing {
    const { state, contracts, market, clock } = this.brokerage
    const traded = symbol ?? legs?.[0]?.symbol ?? ''
    const group = () => MARKETS.find(name => name === contracts.find(traded)?.market) ?? 'us-equity'
    const phase = state.engine.market(traded)?.phase ?? market.phaseAt(group(), clock.now()).phase
    return { overlay: state.overlay(orderId), phase, idOf: this.idOf }
  }

  #ids(login: string): readonly string[] {
    return this.accounts(login).map(({ id }) => id)
  }

  #visible(order: OrderView | 'unknown' | 'forgotten'): OrderView | undefined {
    return typeof order === 'object' && hasSize(order) && !this.brokerage.publisher.isHidden(order.orderId) ? order : undefined
  }
}

/** Of an order or a transaction among all of the sandbox's. */
export function numberOf(internalId: string): number {
  return Number(internalId.slice(internalId.lastIndexOf('-') + 1))
}
