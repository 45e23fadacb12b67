/** The prices that are possible now: the collar of market orders, the band of the quotes, and estimates for orders without a price. */
import { mayTrade } from './sessions.ts'
import { type ExternalLevel, isUntriggered, type Order, type OrderBook } from './state.ts'
import { max, min, type Price, type Quantity } from './units.ts'

/** How far from the touch a market order may trade, in ten-thousandths. */
const COLLAR = 500n
/** A limit this many times off the mark, on the marketable side, is taken for a typing error. */
const BAND_FACTOR = 10n

/**
 * The worst price for a market order: 5 % beyond the best opposite quote, or beyond the mark if there is none. It moves with the market,
 * so it delays an order at a gap in the book but never strands it. Null if the symbol has no price at all.
 */
export function collarOf(book: OrderBook, buy: boolean): Price | null {
  const reference = touchOf(book, buy) ?? book.mark
  return reference === null ? null : collared(reference, buy)
}

/** The best opposite quote for a buyer or seller, including levels already taken. */
export function touchOf(book: OrderBook, buy: boolean): Price | null {
  return (buy ? book.externalAsks : book.externalBids)[0]?.price ?? null
}

/** Whether a price satisfies a limit. */
export function within(price: Price, limit: Price, buy: boolean): boolean {
  return buy ? price <= limit : price >= limit
}

/**
 * The prices at which two customers may trade: within the current quotes (lowest bid to highest ask, including levels already taken), so
 * that no fill lies outside them. An order outside trades at the edge if that is better for it, otherwise not at all: null.
 */
export function banded(book: OrderBook, price: Price, standsToBuy: boolean): Price | null {
  const lowest = book.externalBids.at(-1)?.price
  const highest = book.externalAsks.at(-1)?.price
  if (highest !== undefined && price > highest) return standsToBuy ? highest : null
  if (lowest !== undefined && price < lowest) return standsToBuy ? null : lowest
  return price
}

export function inBand(book: OrderBook, limit: Price, buy: boolean): boolean {
  if (book.mark === null) return true
  return buy ? limit <= book.mark * BAND_FACTOR : limit * BAND_FACTOR >= book.mark
}

/** The estimated price per unit before the order trades: not too low for buyers, not too high for sellers. */
export function reservePrice(order: Order, quantity: Quantity): Price {
  const { book, buy, limit, stop } = order
  if (isUntriggered(order) && stop !== null) return limit ?? collared(furtherOf(stop, touchOf(book, buy), buy), buy)
  const worst = limit ?? collarOf(book, buy) ?? 0n
  const displayed = mayTrade(order) ? displayedPrice(book, buy, quantity, worst) : null
  return displayed ?? worst
}

/** The price of the last level needed to fill the quantity immediately; null if less is displayed. */
function displayedPrice(book: OrderBook, buy: boolean, quantity: Quantity, worst: Price): Price | null {
  let missing = quantity
  for (const level of buy ? book.externalAsks : book.externalBids) {
    if (!within(level.price, worst, buy)) return null
    missing -= level.left
    if (missing <= 0n) return level.price
  }
  return null
}

/** The first level with size left. */
export function firstLeft(levels: readonly ExternalLevel[]): ExternalLevel | undefined {
  return levels.find(level => level.left > 0n)
}

function furtherOf(a: Price, b: Price | null, buy: boolean): Price {
  if (b === null) return a
  return buy ? max(a, b) : min(a, b)
}

function collared(reference: Price, buy: boolean): Price {
  return (reference * (10_000n + (buy ? COLLAR : -COLLAR))) / 10_000n
}
