/** Changes of the market: quotes, prints, sessions, halts, marks and time. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { CommandContext, Refusal } from './command-context.ts'
import { affordable, end, fill } from './execution.ts'
import { settleCash } from './ledger.ts'
import { marketValue } from './margin.ts'
import { printThrough, sweep, triggerStops } from './matching.ts'
import { sweepMultiLeg } from './multi-leg-matching.ts'
import { within } from './pricing.ts'
import { daysToMicros, inExtendedHours, utcDay } from './sessions.ts'
import { type ExternalLevel, isLive, leaves, type Market, newMarket, type Order, type OrderBook } from './state.ts'
import type { Command, HaltCommand, MarkCommand, Phase, QuoteCommand, QuoteLevel, SessionCommand, TradeCommand } from './types.ts'
import { type Price, positive } from './units.ts'

export function quote(context: CommandContext, command: QuoteCommand): void {
  const bids = levels(command.bids, 'bids')
  const asks = levels(command.asks, 'asks')
  const book = bookOf(context, command)
  if (book === undefined) return
  book.externalBids = bids
  book.externalAsks = asks
  // An option may not trade for days while its value follows its underlying; its quotes follow that.
  if (book.last === null || book.spec.option !== null) book.mark = middle(bids[0]?.price, asks[0]?.price) ?? book.mark
  respond(context, book)
}

export function trade(context: CommandContext, command: TradeCommand): void {
  const price = positive(command.price, 'trade price')
  const size = positive(command.size, 'trade size')
  const book = bookOf(context, command)
  if (book === undefined) return
  book.last = price
  book.mark = price
  if (book.market.phase === 'open' && !book.halted) auctions(context, book, command)
  printThrough(context, book, price, size)
  respond(context, book)
}

export function halt(context: CommandContext, command: HaltCommand): void {
  const book = bookOf(context, command)
  if (book === undefined) return
  book.halted = command.halted
  respond(context, book)
}

export function mark(context: CommandContext, command: MarkCommand): void {
  const price = positive(command.price, 'mark')
  const book = bookOf(context, command)
  if (book !== undefined) book.mark = price
}

/** Returns whether a new day began. */
export function tick(context: CommandContext): boolean {
  const day = utcDay(context.state.now)
  if (day === context.state.sweptDay) return false
  context.state.sweptDay = day
  const born = context.state.now - daysToMicros(context.state.settings.gtcDays)
  for (const account of context.state.accounts.values()) {
    for (const order of [...account.live]) {
      if (order.acceptedAt > born || (order.timeInForce !== 'GTC' && order.timeInForce !== 'GTC+')) continue
      end(context, order, 'expired', 'too_old', `A good-till-canceled order lives ${context.state.settings.gtcDays} days.`)
    }
  }
  return true
}

export function session(context: CommandContext, command: SessionCommand): void {
  if (!isDate(command.tradingDate)) throw new Malformed('trading date', 'a date YYYY-MM-DD', command.tradingDate)
  const market = marketOf(context, command.market)
  const before = market.tradingDate
  if (before !== null && command.tradingDate < before) throw new Malformed('trading date', `${before} or later`, command.tradingDate)
  const newDay = before !== null && command.tradingDate !== before
  leave(context, market, command.phase, newDay)
  market.tradingDate = command.tradingDate
  if (newDay) startDay(context, market)
  if (command.phase === 'open' && (market.phase !== 'open' || newDay)) {
    market.session++
    for (const book of market.books) {
      book.opened = false
      book.sessionLast = null
    }
  }
  market.phase = command.phase
  for (const book of market.books) respond(context, book)
}

export function marketOf(context: CommandContext, name: string): Market {
  const there = context.state.markets.get(name)
  if (there !== undefined) return there
  const made = newMarket(name)
  context.state.markets.set(name, made)
  return made
}

/** Ends orders that do not outlive the phase or the day. */
function leave(context: CommandContext, market: Market, to: Phase, newDay: boolean): void {
  if (market.phase === 'open' && (to !== 'open' || newDay)) for (const book of market.books) endSession(context, book)
  if (market.phase === 'closed' || (to !== 'closed' && !newDay)) return
  for (const order of market.books.flatMap(ordersOf)) if (order.timeInForce === 'DAY+') expire(context, order)
}

function endSession(context: CommandContext, book: OrderBook): void {
  if (book.sessionLast !== null && !book.halted) auction(context, book.closing.items(), book.sessionLast, 'CLOSE')
  for (const order of [...book.closing.items(), ...openers(book)]) auctionOver(context, order)
  for (const order of ordersOf(book)) if (order.timeInForce === 'DAY') expire(context, order)
  for (const order of book.multiLegOrders.slice()) if (order.timeInForce === 'DAY') expire(context, order)
}

function startDay(context: CommandContext, market: Market): void {
  for (const book of market.books) book.previousClose = book.mark
  for (const account of context.state.accounts.values()) {
    for (const holding of account.holdings.values()) if (holding.book.market === market) holding.dayBasis = marketValue(holding)
  }
  if (market.tradingDate !== null) settleCash(context, market.name, market.tradingDate)
}

/** A print of the session may be the opening or closing one. */
function auctions(context: CommandContext, book: OrderBook, { auction: marked }: TradeCommand): void {
  const price = book.last
  if (price === null) return
  const first = !book.opened
  book.sessionLast = price
  book.opened = true
  if (first || marked === 'open') auction(context, openers(book), price, 'OPEN')
  if (marked === 'close') auction(context, book.closing.items(), price, 'CLOSE')
}

/** All auction orders trade at its one price; those that the price does not reach end. */
function auction(context: CommandContext, orders: readonly Order[], price: Price, venue: 'OPEN' | 'CLOSE'): void {
  for (const order of orders) {
    const quantity = order.limit === null || within(price, order.limit, order.buy) ? affordable(order, price) : 0n
    if (quantity > 0n) fill(context, order, quantity, price, venue)
    if (isLive(order)) auctionOver(context, order)
  }
}

function auctionOver(context: CommandContext, order: Order): void {
  end(context, order, 'expired', 'auction_over', `The ${order.timeInForce === 'OPEN' ? 'opening' : 'closing'} auction is over.`)
}

function openers(book: OrderBook): readonly Order[] {
  return book.opening.items().filter(order => order.session <= book.market.session)
}

function expire(context: CommandContext, order: Order): void {
  const what = inExtendedHours(order.timeInForce) ? 'trading day' : 'session'
  end(
    context,
    order,
    'expired',
    'session_ended',
    `The ${what} ended with ${leaves(order) === order.quantity ? 'nothing' : 'only a part'} filled.`
  )
}

/** After every change: resting orders take what they can reach, then stops trigger. */
function respond(context: CommandContext, book: OrderBook): void {
  sweep(context, book)
  if (book.multiLegOrders.length > 0) sweepMultiLeg(context, book)
  triggerStops(context, book)
}

/** The single orders that wait or rest in a book, without those of its auctions. */
export function ordersOf(book: OrderBook): readonly Order[] {
  return [book.waitingBuys, book.bids, book.waitingSells, book.asks, book.buyStops, book.sellStops].flatMap(queue => queue.items())
}

export function bookOf(context: CommandContext, command: Command & { readonly symbol: string }): OrderBook | undefined {
  const book = context.book(command.symbol)
  if (book === undefined) context.refused(command, null, unknownSymbol(command.symbol))
  return book
}

function unknownSymbol(symbol: string): Refusal {
  return { code: 'unknown_symbol', message: `${symbol} is not listed.` }
}

function levels(texts: readonly QuoteLevel[], what: string): readonly ExternalLevel[] {
  return texts.map(([price, size]) => ({ price: positive(price, `price in ${what}`), left: positive(size, `size in ${what}`) }))
}

function middle(bid: Price | undefined, ask: Price | undefined): Price | null {
  if (bid === undefined || ask === undefined) return bid ?? ask ?? null
  return (bid + ask) / 2n
}

function isDate(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() === text
  } catch {
    return false
  }
}
