/** The sandbox's orders as Tradier shows them: found by its ids, and merged with their amendments. */

import { isoOf, type OrderView, Problem, parseOptionSymbol } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { digitsOf, internalIdOf } from '../../frame/order-ids.ts'
import { toTradier } from '../symbols.ts'
import { type Branch, Figure, figure, type Tree } from '../tree.ts'
import { type Chain, chainOf, fillsOf, type Totals, totalsOf } from './chain.ts'
import { DURATION_OF, multiLegTypeOf, SIDE_OF, STATUS_OF, TYPE_OF } from './enums.ts'
import type { Late } from './late.ts'
import type { Note, Notes } from './notes.ts'
import { reasonOf } from './reasons.ts'

export interface TradierOrdersDeps {
  readonly brokerage: Pick<BrokerageView, 'state' | 'publisher'>
  readonly notes: Notes
  readonly late: Late
}

/** What is known of an order before it is written one way or another. */
export interface Known {
  readonly chain: Chain
  readonly id: Figure
  readonly note: Note
  readonly status: string
  readonly type: string
  readonly totals: Totals
  readonly reason: string | null
}

export class TradierOrders {
  readonly #deps: TradierOrdersDeps

  constructor(deps: TradierOrdersDeps) {
    this.#deps = deps
  }

  /** By the id that Tradier gave it. @throws Problem */
  requested(accountId: string, id: string): Known {
    const known = this.lookUp(accountId, id)
    if (known === null) throw new Problem('unknown_order', `Order not found: ${id.slice(0, 40)}`)
    return known
  }

  lookUp(accountId: string, id: string): Known | null {
    const { state, publisher } = this.#deps.brokerage
    const internalId = internalIdOf(id, number => state.engine.orderId(number))
    const order = internalId === null ? null : this.find(accountId, internalId)
    if (order === null || publisher.isHidden(order.orderId)) return null
    const chain = chainOf(order, this.find)
    // An amendment has no id of its own here, and what was refused at once never had one.
    return chain.first.orderId === order.orderId && this.exists(chain) ? this.known(chain) : null
  }

  readonly find = (accountId: string, orderId: string): OrderView | null => {
    const found = this.#deps.brokerage.state.engine.order(accountId, { orderId })
    return typeof found === 'object' ? found : null
  }

  chainOf(order: OrderView): Chain {
    return chainOf(order, this.find)
  }

  /** What was refused at once was never an order here. */
  exists({ last }: Chain): boolean {
    return last.state !== 'rejected' || last.reason === null || !reasonOf(last.reason.code).isAtOnce
  }

  known(chain: Chain): Known {
    const { first, last } = chain
    const later = this.#deps.brokerage.state.overlay(last.orderId)?.refusedLater ?? null
    const isRefusedLater = later !== null && last.state === 'canceled'
    const isRejected = isRefusedLater || last.state === 'rejected'
    return {
      chain,
      id: idOf(first.orderId),
      note: this.#deps.notes.of(first.clientOrderId),
      status: isRefusedLater
        ? 'rejected'
        : last.state === 'open' && last.carriedQuantity !== '0'
          ? 'partially_filled'
          : STATUS_OF[last.state],
      type: last.legs === null ? TYPE_OF[last.orderType] : multiLegTypeOf(last.side, last.limitPrice),
      totals: totalsOf(fillsOf(chain)),
      reason: isRejected ? (later?.message ?? last.reason?.message ?? 'The order was turned down.') : null
    }
  }

  tree(known: Known, withTag: boolean): Branch {
    const { chain, note, type, status, totals, reason } = known
    const { first, last } = chain
    const missing = status === 'filled' ? this.#deps.late.of(last.orderId) : null
    return {
      id: known.id,
      type,
      symbol: this.symbolOf(last),
      side: note.side ?? SIDE_OF[last.side],
      quantity: figure(last.quantity),
      status,
      duration: note.duration ?? DURATION_OF[last.timeInForce],
      price: last.limitPrice === null ? undefined : price(last.limitPrice),
      stop_price: last.stopPrice === null ? undefined : price(last.stopPrice),
      avg_fill_price: figure(missing === null ? totals.average : '0'),
      exec_quantity: figure(missing === 'price and quantity' ? '0' : totals.quantity),
      last_fill_price: figure(missing === null ? (totals.last?.price ?? '0') : '0'),
      last_fill_quantity: figure(missing === 'price and quantity' ? '0' : (totals.last?.quantity ?? '0')),
      remaining_quantity: figure(last.remainingQuantity),
      create_date: dateOf(first.acceptedAt),
      transaction_date: dateOf(last.updatedAt),
      class: classOf(last),
      ...(last.legs === null && last.kind === 'OPT' ? { option_symbol: last.symbol ?? '' } : {}),
      ...(last.legs === null ? {} : { num_legs: last.legs.length, strategy: 'spread', leg: this.#legs(known) }),
      reason_description: reason ?? undefined,
      tag: withTag ? (note.tag ?? undefined) : undefined
    }
  }

  /** The underlying of options. */
  symbolOf({ symbol, legs }: OrderView): string {
    const named = symbol ?? legs?.[0]?.symbol ?? ''
    const { state } = this.#deps.brokerage
    return toTradier(state.engine.instrument(named)?.option?.underlying ?? parseOptionSymbol(named)?.underlying ?? named)
  }

  #legs({ chain, status, type }: Known): readonly Tree[] {
    const { first, last } = chain
    return (last.legs ?? []).map((leg, nth) => {
      const totals = totalsOf(fillsOf(chain, nth))
      const quantity = String(Number(last.quantity ?? '0') * Number(leg.ratio))
      return {
        id: legIdOf(first.orderId, nth),
        type,
        symbol: this.symbolOf(last),
        side: SIDE_OF[leg.side],
        quantity: figure(quantity),
        status,
        duration: DURATION_OF[last.timeInForce],
        avg_fill_price: figure(totals.average),
        exec_quantity: figure(totals.quantity),
        last_fill_price: figure(totals.last?.price ?? '0'),
        last_fill_quantity: figure(totals.last?.quantity ?? '0'),
        remaining_quantity: figure(String(Number(last.remainingQuantity) * Number(leg.ratio))),
        create_date: dateOf(first.acceptedAt),
        transaction_date: dateOf(last.updatedAt),
        class: 'option',
        option_symbol: leg.symbol
      }
    })
  }
}

export function idOf(orderId: string): Figure {
  return new Figure(digitsOf(orderId))
}

/** Legs have their own ids, of the same state. */
export function legIdOf(orderId: string, nth: number): Figure {
  return new Figure(digitsOf(orderId.replace(/^ord/, `leg${nth}`)))
}

/** `2026-11-03T14:31:05.120Z`. */
export function dateOf(at: number): string {
  return `${isoOf(at).slice(0, 23)}Z`
}

/** The net price of a multi-leg order is never negative here: its type says which way the money goes. */
export function price(text: string): Figure {
  return figure(text.replace(/^-/, ''), 1)
}

function classOf({ legs, kind }: OrderView): string {
  if (legs !== null) return 'multileg'
  return kind === 'OPT' ? 'option' : 'equity'
}
