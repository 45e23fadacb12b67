/** The sandbox's orders as Tradier shows them, over REST and as events of the account stream: a changed order keeps its id. */

import { compare, times, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import {
  daysOf,
  directionOf,
  draw,
  type FillView,
  keyOf,
  type Micros,
  NEW_YORK,
  type OrderEvent,
  type OrderReason,
  type OrderState,
  type OrderView,
  parseOptionSymbol
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { average, type Chain, chainById, chainOf, decimal, fillsOf, total } from '../frame/order-chain.ts'
import { digitsOf } from '../frame/order-ids.ts'
import type { Options } from './access.ts'
import { toTradier } from './account.ts'
import { figure, timeOf } from './answers.ts'

export const SHARE_SIDES = { buy: 'BUY', buy_to_cover: 'BUY', sell: 'SELL', sell_short: 'SELL' } as const satisfies Record<string, Side>
export const OPTION_SIDES = {
  ...({ buy_to_open: 'BUY_TO_OPEN', buy_to_close: 'BUY_TO_CLOSE', sell_to_open: 'SELL_TO_OPEN', sell_to_close: 'SELL_TO_CLOSE' } as const)
} satisfies Record<string, Side>
export const TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export const MULTI_LEG_TYPES = { market: 'MKT', debit: 'LMT', credit: 'LMT', even: 'LMT' } as const satisfies Record<string, OrderType>
/** The sandbox's extended day is as near as it comes to Tradier's sessions before and after. */
export const DURATIONS = { day: 'DAY', gtc: 'GTC', pre: 'DAY+', post: 'DAY+' } as const satisfies Record<string, TimeInForce>
const STATUSES: Readonly<Record<OrderState, string>> = {
  ...{ held: 'open', open: 'open', partial: 'partially_filled', filled: 'filled', canceled: 'canceled', expired: 'expired' },
  // An order whose amendment the state has forgotten can only have ended.
  ...{ rejected: 'rejected', replaced: 'canceled' }
}

/** Why an order is refused, in Tradier's codes. */
const REASONS: { readonly [Code in OrderReason]?: string } = {
  ...{ instrument_not_permitted: 'AssetTradingNotConfiguredForAccount', unknown_symbol: 'SecurityUndefined' },
  ...{ expired_contract: 'InvalidOrderExpiration', bad_legs: 'IncorrectOrderQuantity', unsupported_side: 'OrderWithDifferentSide' },
  ...{ unsupported_time_in_force: 'IncorrectTimeInForce', bad_quantity: 'IncorrectOrderQuantity', bad_price: 'OrderPriceIsInvalid' },
  ...{ bad_tick: 'OrderPriceIsInvalid', insufficient_buying_power: 'InitialMargin', insufficient_cash: 'InitialMargin' },
  ...{ insufficient_position: 'LongPositionCrossZero', short_sale_not_allowed: 'ShortStockTradingDeniedForAccount' }
}
/** Those of orders that are taken, and turned down a moment later. */
const LATER: typeof REASONS = {
  ...{ price_out_of_band: 'QuotePriceIsInvalid', no_price: 'QuotePriceIsInvalid' },
  ...{ market_closed: 'TradingDeniedForSecurity', halted: 'TradingDeniedForSecurity' }
}

/** Whether no such order ever was. */
export function isRefusedAtOnce(code: string): boolean {
  return Object.hasOwn(REASONS, code)
}

/** For money the back office's message, for everything else the sandbox's; then the code, where there is one. */
export function reasonsOf(code: string, message: string): readonly string[] {
  const [, reason = null] = Object.entries({ ...REASONS, ...LATER }).find(([name]) => name === code) ?? []
  if (reason === 'InitialMargin') return ['Backoffice rejected override of the order.', reason]
  return reason === null ? [message] : [message, reason]
}

/** What the state does not keep of an order. Lost at a restart, and at {@link LABELS_MAX}. */
export interface Label {
  readonly tag: string | null
  readonly side: string | null
  /** Null for the durations that the time in force shows. */
  readonly duration: 'pre' | 'post' | null
}

const LABELS_MAX = 200_000
const HALF_DAY: Micros = 12 * 3_600_000_000
const dayOf = daysOf(NEW_YORK)
/** Ids that the sandbox generates are no tags. */
const TAG = /^(?!sandbox-|house-)[A-Za-z0-9-]{1,255}$/

export class TradierOrders {
  readonly #brokerage: BrokerageView
  readonly #options: Options
  /** By client order id. */
  readonly #labels = new Map<string, Label>()
  /** Orders that are filled already and whose prices REST does not show yet; true: nor their quantities. */
  readonly #late = new Map<string, boolean>()

  constructor(brokerage: BrokerageView, options: Options) {
    this.#brokerage = brokerage
    this.#options = options
  }

  label(clientOrderId: string, label: Label): void {
    this.#labels.set(clientOrderId, label)
    const [oldest] = this.#labels.keys()
    if (oldest !== undefined && this.#labels.size > LABELS_MAX) this.#labels.delete(oldest)
  }

  /** An order of another dialect has its client order id for a tag, if that can be one. */
  tagOf({ first: { clientOrderId } }: Chain): string | null {
    return this.#labels.get(clientOrderId)?.tag ?? (TAG.test(clientOrderId) ? clientOrderId : null)
  }

  /** Undefined for what was refused at once: it never was an order here. */
  chainOf(order: OrderView): Chain | undefined {
    const isNone = order.state === 'rejected' && order.reason !== null && isRefusedAtOnce(order.reason.code)
    return isNone ? undefined : chainOf(this.#brokerage.state, order)
  }

  find(accountId: string, id: string): Chain | undefined {
    const found = chainById(this.#brokerage, [accountId], id)
    return found && this.chainOf(found.last)
  }

  statusOf({ last }: Chain): string {
    if (last.state === 'open' && last.carriedQuantity !== '0') return 'partially_filled'
    return this.#refusal(last) === null ? STATUSES[last.state] : 'rejected'
  }

  durationOf({ first, last: { timeInForce } }: Chain): string {
    if (timeInForce !== 'DAY+') return timeInForce.startsWith('GTC') ? 'gtc' : 'day'
    const { duration = null } = this.#labels.get(first.clientOrderId) ?? {}
    return duration ?? (first.acceptedAt - dayOf(first.acceptedAt).start < HALF_DAY ? 'pre' : 'post')
  }

  wire(chain: Chain, withTag: boolean): object {
    const { id, first, last } = chain
    const { legs, kind, side, symbol, limitPrice, stopPrice, remainingQuantity } = last
    const late = last.state === 'filled' ? this.#late.get(last.orderId) : undefined
    const tag = withTag ? this.tagOf(chain) : null
    return {
      ...this.#common(chain, fillsOf(chain), late),
      ...{ id: Number(id), symbol: this.#underlying(last), side: this.#labels.get(first.clientOrderId)?.side ?? side.toLowerCase() },
      ...{ quantity: figure(last.quantity), remaining_quantity: figure(remainingQuantity) },
      ...(limitPrice === null ? {} : { price: priceOf(limitPrice) }),
      ...(stopPrice === null ? {} : { stop_price: priceOf(stopPrice) }),
      class: legs !== null ? 'multileg' : kind === 'OPT' ? 'option' : 'equity',
      ...(kind === 'OPT' && symbol !== null ? { option_symbol: symbol } : {}),
      ...(legs === null ? {} : { leg: legs.map((_, nth) => this.#leg(chain, nth)) }),
      reason_description: this.#refusal(last) ?? undefined,
      ...(tag === null ? {} : { tag })
    }
  }

  /** Some prices come late. */
  happened({ change, order }: OrderEvent): void {
    const { lateChance, lateMs } = this.#options
    if (change !== 'fill' || order.state !== 'filled' || !this.#isDrawn('late', order, lateChance)) return
    this.#late.set(order.orderId, this.#isDrawn('late quantity', order, 128))
    this.#brokerage.timers.later(lateMs, () => this.#late.delete(order.orderId))
  }

  /** A few fields of an order that changed: no symbol and no reason. A new one is reported twice, as pending and as open, not always so. */
  events({ change, order }: OrderEvent, account: string): readonly object[] {
    const chain = change === 'replaced' || change === 'triggered' ? undefined : this.chainOf(order)
    if (chain === undefined) return []
    const statuses = [...(change === 'accepted' && order.replaces === null ? ['pending'] : []), this.statusOf(chain)]
    if (this.#isDrawn('swapped', order, this.#options.swapChance)) statuses.reverse()
    return statuses.flatMap(status => this.#frames(chain, status, account))
  }

  #frames(chain: Chain, status: string, account: string): readonly object[] {
    const { limitPrice, stopPrice, remainingQuantity, legs } = chain.last
    const id = Number(chain.id)
    const frame = (fills: readonly FillView[]) => {
      const { type, exec_quantity, avg_fill_price, create_date, transaction_date } = this.#common(chain, fills)
      const prices = { price: priceOf(limitPrice ?? '0'), stop_price: priceOf(stopPrice ?? '0'), avg_fill_price, exec_quantity }
      const times = { create_date, transaction_date, remaining_quantity: figure(remainingQuantity, 1) }
      return { id, event: 'order', status, type, ...prices, ...times, account, tag: this.tagOf(chain) ?? undefined }
    }
    const ofLegs = (legs ?? []).map(({ symbol }, nth) => ({ ...frame(fillsOf(chain, symbol)), id: legIdOf(chain, nth), parent_id: id }))
    return [frame(fillsOf(chain)), ...ofLegs]
  }

  /** The contracts of each leg are counted. */
  #leg(chain: Chain, nth: number): object {
    const { legs, quantity, remainingQuantity } = chain.last
    const { symbol = '', side = 'BUY', ratio = '1' } = legs?.[nth] ?? {}
    const contracts = (units: string | null) => figure(times(decimal(units ?? '0'), decimal(ratio)))
    return {
      ...this.#common(chain, fillsOf(chain, symbol)),
      ...{
        id: legIdOf(chain, nth),
        symbol: this.#underlying(chain.last),
        side: side.toLowerCase(),
        class: 'option',
        option_symbol: symbol
      },
      ...{ quantity: contracts(quantity), remaining_quantity: contracts(remainingQuantity) }
    }
  }

  #common(chain: Chain, fills: readonly FillView[], late?: boolean) {
    const { first, last } = chain
    return {
      ...{ type: typeOf(last), status: this.statusOf(chain), duration: this.durationOf(chain) },
      avg_fill_price: figure(late === undefined ? average(fills) : null),
      exec_quantity: figure(late === true ? null : total(fills)),
      ...{ create_date: timeOf(first.acceptedAt), transaction_date: timeOf(last.updatedAt) }
    }
  }

  #isDrawn(what: string, { orderId }: OrderView, chance: number): boolean {
    return (draw(keyOf(`${this.#brokerage.seed} ${what}`), keyOf(orderId)) & 0xff) < chance
  }

  /** Null for an order that was not turned down. */
  #refusal({ orderId, state, reason }: OrderView): string | null {
    const later = this.#brokerage.state.overlay(orderId)?.refusedLater ?? null
    if (later !== null && state === 'canceled') return later.message
    return state === 'rejected' ? (reason?.message ?? 'The order was turned down.') : null
  }

  #underlying({ symbol, legs }: OrderView): string {
    const named = symbol ?? legs?.[0]?.symbol ?? ''
    return toTradier(this.#brokerage.state.engine.instrument(named)?.option?.underlying ?? parseOptionSymbol(named)?.underlying ?? named)
  }
}

/** Legs have their own ids, of the same state. */
function legIdOf({ first }: Chain, nth: number): number {
  return Number(digitsOf(first.orderId.replace(/^ord/, `leg${nth}`)))
}

/** The net price of a multi-leg order is never negative here: its type says which way the money goes. */
function priceOf(text: string): object {
  return figure(text.replace(/^-/, ''), 1)
}

export function typeOf({ legs, side, orderType, limitPrice }: OrderView): string {
  if (legs === null || limitPrice === null) return Object.entries(TYPES).find(([, type]) => type === orderType)?.[0] ?? 'market'
  const sign = compare(decimal(limitPrice), ZERO)
  return sign === 0 ? 'even' : (directionOf(side) === 'buy') === sign > 0 ? 'debit' : 'credit'
}
