/** The checks of an order before it is accepted. Each failed check has a code and a message that says what to do. */
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Refusal } from './command-context.ts'
import { checkContract } from './contract-checks.ts'
import { unitsFor } from './execution.ts'
import { hold, opens, purchasePower, sellable, setNeeds, worthOf } from './margin.ts'
import { admitOption } from './option-admission.ts'
import { collarOf, inBand, touchOf } from './pricing.ts'
import { isAuction } from './sessions.ts'
import { type Account, holdingOf, isBuy, type Order, type OrderBook } from './state.ts'
import type { Micros, RefusalCode } from './types.ts'
import { formatMoney, formatScaled, type Money, ONE, type Price, type Quantity, readScaled, toMoney } from './units.ts'

const QUANTITY_MAX = 1_000_000_000n * ONE
const NOTIONAL_MIN = toMoney(ONE)
const CLIENT_ORDER_ID = /^[\x20-\x7e]{1,64}$/

/** An order ticket's numbers, as text. */
export interface Ticket {
  readonly side: Side
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

export interface Figures {
  readonly quantity: Quantity | null
  readonly notional: Money | null
  readonly limit: Price | null
  readonly stop: Price | null
}

/** The ticket's valid numbers; {@link checkTicket} reports the invalid ones. */
export function figuresOf(ticket: Ticket): Figures {
  const notional = above(ticket.notional)
  return {
    quantity: above(ticket.quantity),
    notional: notional === null ? null : toMoney(notional),
    limit: above(ticket.limitPrice),
    stop: above(ticket.stopPrice)
  }
}

function above(text: string | null): bigint | null {
  const value = text === null ? undefined : readScaled(text)
  return value === undefined || value <= 0n ? null : value
}

export function checkClientOrderId(account: Account, clientOrderId: string): Refusal | null {
  if (typeof clientOrderId !== 'string' || !CLIENT_ORDER_ID.test(clientOrderId)) {
    return refusal('bad_client_order_id', 'A client order id has 1 to 64 printable ASCII characters.')
  }
  if (!account.clientOrderIds.has(clientOrderId)) return null
  return refusal('duplicate_client_order_id', `The client order id ${clientOrderId} was used before in this account; ids are never reused.`)
}

/** Every check of a ticket that needs neither positions nor money. */
export function checkTicket(account: Account, book: OrderBook, ticket: Ticket, figures: Figures, now: Micros): Refusal | null {
  return (
    checkInstrument(account, book, ticket, now) ??
    checkTimeInForce(book, ticket) ??
    checkPrice(
      'limit price',
      ticket.limitPrice,
      figures.limit,
      ticket.orderType === 'LMT' || ticket.orderType === 'STPLMT',
      book,
      ticket
    ) ??
    checkPrice('stop price', ticket.stopPrice, figures.stop, ticket.orderType === 'STP' || ticket.orderType === 'STPLMT', book, ticket) ??
    checkBand(book, ticket, figures) ??
    checkSize(book, ticket, figures) ??
    checkMarket(book, ticket)
  )
}

function checkInstrument(account: Account, book: OrderBook, { side }: Ticket, now: Micros): Refusal | null {
  const { kind, currency } = book.spec.source
  if (kind === 'OPT' || kind === 'FUT') {
    const problem = checkContract(account, book, now)
    if (problem !== null) return problem
  }
  if (!account.permitted.includes(kind)) {
    return refusal(
      'instrument_not_permitted',
      `This ${account.accountType} account may not trade ${book.symbol}; it has no permission for ${kind}.`
    )
  }
  if (currency !== account.currency) {
    return refusal('instrument_not_permitted', `${book.symbol} trades in ${currency}, but the account's currency is ${account.currency}.`)
  }
  if ((side === 'BUY' || side === 'SELL') !== (kind === 'OPT')) return null
  const sides = kind === 'OPT' ? 'BUY_TO_OPEN, SELL_TO_OPEN, BUY_TO_CLOSE and SELL_TO_CLOSE' : 'BUY and SELL'
  return refusal('unsupported_side', `${book.symbol} takes the sides ${sides}, not ${side}.`)
}

function checkTimeInForce(book: OrderBook, { orderType, timeInForce }: Ticket): Refusal | null {
  const stops = orderType === 'STP' || orderType === 'STPLMT'
  const atOnce = timeInForce === 'IOC' || timeInForce === 'FOK'
  if (isAuction(timeInForce) && !book.spec.source.auctions)
    return refusal('unsupported_time_in_force', `${book.symbol} has no auctions, so ${timeInForce} does not apply.`)
  if (stops && (atOnce || isAuction(timeInForce))) {
    return refusal(
      'unsupported_time_in_force',
      `A ${orderType} order waits for its stop price and cannot be ${timeInForce}; use DAY or GTC.`
    )
  }
  return null
}

function checkPrice(
  what: string,
  text: string | null,
  price: Price | null,
  due: boolean,
  book: OrderBook,
  { orderType }: Ticket
): Refusal | null {
  if (!due) return text === null ? null : refusal('bad_price', `A ${orderType} order takes no ${what}.`)
  if (text === null) return refusal('bad_price', `A ${orderType} order needs a ${what}.`)
  if (price === null) return refusal('bad_price', `The ${what} must be a plain decimal above zero with at most nine places.`)
  const tick = price < ONE ? book.spec.tickBelowOne : book.spec.tick
  return price % tick === 0n
    ? null
    : refusal('bad_tick', `The ${what} ${formatScaled(price)} is not a multiple of ${book.symbol}'s tick, ${formatScaled(tick)}.`)
}

function checkBand(book: OrderBook, { side }: Ticket, { limit }: Figures): Refusal | null {
  // A share's price does not change tenfold in a day; an option's does.
  if (limit === null || book.spec.option !== null || inBand(book, limit, isBuy(side))) return null
  return refusal(
    'price_out_of_band',
    `The limit price ${formatScaled(limit)} is too far through the market price ${formatScaled(book.mark ?? 0n)}.`
  )
}

function checkSize(book: OrderBook, { orderType, quantity, notional }: Ticket, figures: Figures): Refusal | null {
  if ((quantity === null) === (notional === null)) return refusal('bad_quantity', 'Give either a quantity or a notional amount, not both.')
  if (notional !== null) {
    if (book.spec.option !== null || book.spec.future !== null)
      return refusal('bad_notional', `${book.symbol} is ordered by contracts, not by a notional amount.`)
    if (orderType !== 'MKT' && orderType !== 'LMT') return refusal('bad_notional', 'A notional amount goes with MKT and LMT orders only.')
    return figures.notional !== null && figures.notional >= NOTIONAL_MIN
      ? null
      : refusal('bad_notional', `A notional amount is a plain decimal of at least ${formatMoney(NOTIONAL_MIN)}.`)
  }
  if (figures.quantity === null || figures.quantity > QUANTITY_MAX) {
    return refusal(
      'bad_quantity',
      `A quantity is a plain decimal with at most nine places, above zero and at most ${formatScaled(QUANTITY_MAX)}.`
    )
  }
  const step = orderType === 'MKT' ? book.spec.fraction : book.spec.lot
  if (figures.quantity % step === 0n) return null
  const hint = book.spec.fraction < book.spec.lot && orderType !== 'MKT' ? '; fractions go with market and notional orders' : ''
  return refusal('bad_quantity', `The quantity ${formatScaled(figures.quantity)} is not a multiple of ${formatScaled(step)}${hint}.`)
}

function checkMarket(book: OrderBook, { side, orderType, timeInForce }: Ticket): Refusal | null {
  if (timeInForce === 'IOC' || timeInForce === 'FOK') {
    if (book.market.phase !== 'open')
      return refusal('market_closed', `${timeInForce} orders are taken while the market is open; it is in phase ${book.market.phase}.`)
    if (book.halted) return refusal('halted', `${book.symbol} is halted; ${timeInForce} orders cannot wait for its trading to resume.`)
  }
  if (orderType === 'MKT' && collarOf(book, isBuy(side)) === null) {
    return refusal('no_price', `${book.symbol} has no price yet; send a limit order.`)
  }
  return null
}

/** The quantity that a notional amount buys now: at the limit, otherwise at the price it would trade at. */
export function notionalUnits(book: OrderBook, buy: boolean, amount: Money, limit: Price | null): Quantity {
  return unitsFor(amount, limit ?? touchOf(book, buy) ?? book.mark ?? 0n, book)
}

/**
 * Checks an otherwise valid order against the account's positions and money, and holds what the order needs. Holds nothing if it refuses.
 * `left` is the quantity that the order would fill.
 */
export function admit(order: Order, left: Quantity, at: number): Refusal | null {
  if (order.book.spec.option !== null) return admitOption(order, left, at)
  const holding = holdingOf(order.account, order.book, at)
  const short = order.buy ? null : checkShort(order, left)
  if (short !== null) return short
  const opening = opens(order, left)
  // Selling shares may uncover short calls.
  const before = !order.buy && order.account.options.has(order.book.symbol) ? worthOf(order.account) : null
  setNeeds(order, left)
  hold(order, holding, left)
  if (!opening && before === null) return null
  const worth = worthOf(order.account)
  const covered = before === null || worth.uncovered <= before.uncovered
  if (covered && (worth.excess >= worth.reserved || (!opening && worth.reserved <= (before?.reserved ?? 0n)))) return null
  const needed = before === null ? order.heldReserve + order.heldFees : worth.reserved - before.reserved
  hold(order, holding, 0n)
  if (!covered)
    return refusal('insufficient_position', `Calls were sold on ${order.book.symbol} that these shares cover; close them first.`)
  const had = worthOf(order.account)
  const power = purchasePower(order.account, had.excess - had.reserved)
  return refusal(
    'insufficient_buying_power',
    `The order needs ${formatMoney(purchasePower(order.account, needed))} of buying power; ${formatMoney(power)} is available.`
  )
}

function checkShort(order: Order, left: Quantity): Refusal | null {
  const { account, book } = order
  if (book.spec.future !== null) return null
  const holding = account.holdings.get(book.symbol)
  const available = sellable(holding)
  if (left <= available) return null
  if (account.accountType !== 'margin') {
    if (holding === undefined || holding.quantity === 0n) {
      return refusal('short_sale_not_allowed', `The account holds no ${book.symbol}, and only margin accounts may sell short.`)
    }
    return refusal(
      'insufficient_position',
      `${formatScaled(available)} ${book.symbol} can be sold (open sales counted); the order is for ${formatScaled(left)}.`
    )
  }
  if (!book.spec.source.shortable)
    return refusal('short_sale_not_allowed', `${book.symbol} cannot be sold short; ${formatScaled(available)} can be sold.`)
  if ((left - available) % book.spec.lot !== 0n) {
    return refusal('short_sale_not_allowed', `Only whole lots of ${formatScaled(book.spec.lot)} can be sold short.`)
  }
  return null
}

function refusal(code: RefusalCode, message: string): Refusal {
  return { code, message }
}
