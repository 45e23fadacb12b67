/** The effect of an order if it were accepted now. Changes nothing: uses no number and leaves no hold. */
import { admit, checkTicket, figuresOf, notionalUnits } from './admission.ts'
import type { CommandContext, Refusal } from './command-context.ts'
import { newOrder, tooMany, tooSmall, unknownAccount } from './lifecycle.ts'
import { hold, purchasePower, worthOf } from './margin.ts'
import { checkMultiLeg, legsOf, multiLegFiguresOf } from './multi-leg-ticket.ts'
import { touchOf } from './pricing.ts'
import { type Account, dropHolding, isBuy, type Order, type OrderBook } from './state.ts'
import type { PreviewCommand, PreviewView } from './types.ts'
import { divideUp, feeOf, formatMoney, formatScaled, type Money, min, type Price, type Quantity, roundToCents } from './units.ts'

const IDENTITY = { id: 'preview', number: 0 }
const CLIENT_ORDER_ID = 'preview'

export function preview(context: CommandContext, command: PreviewCommand): PreviewView | Refusal {
  const account = context.account(command.accountId)
  if (account === undefined) return unknownAccount(command.accountId)
  const order = 'legs' in command ? multiLegOf(context, account, command) : singleOf(context, account, command)
  return 'code' in order ? order : estimated(account, order, Math.max(context.state.now, command.at))
}

type Single = Exclude<PreviewCommand, { readonly legs: unknown }>
type MultiLegPreview = Extract<PreviewCommand, { readonly legs: unknown }>

function singleOf(context: CommandContext, account: Account, command: Single): Order | Refusal {
  const book = context.book(command.symbol)
  if (book === undefined) return { code: 'unknown_symbol', message: `${command.symbol} is not traded here.` }
  const figures = figuresOf(command)
  const problem = tooMany(context, account) ?? checkTicket(account, book, command, figures, Math.max(context.state.now, command.at))
  if (problem !== null) return problem
  const { notional, limit } = figures
  const quantity = notional === null ? figures.quantity : notionalUnits(book, isBuy(command.side), notional, limit)
  if (quantity === 0n) return tooSmall(book, notional)
  return newOrder(context, { account, book, ticket: command, figures: { ...figures, quantity }, clientOrderId: CLIENT_ORDER_ID }, IDENTITY)
}

function multiLegOf(context: CommandContext, account: Account, command: MultiLegPreview): Order | Refusal {
  const legs = legsOf(context, command)
  if ('code' in legs) return legs
  const [first] = legs
  if (first === undefined) return { code: 'bad_legs', message: 'A multi-leg order has legs.' }
  const problem = tooMany(context, account) ?? checkMultiLeg(account, legs, command, Math.max(context.state.now, command.at))
  if (problem !== null) return problem
  const ticket = { ...command, notional: null, stopPrice: null }
  const figures = { ...multiLegFiguresOf(command), notional: null, stop: null }
  return newOrder(context, { account, book: first.book, ticket, figures, clientOrderId: CLIENT_ORDER_ID, legs }, IDENTITY)
}

/** Admits the order, reads the changes, and undoes them. */
function estimated(account: Account, order: Order, at: number): PreviewView | Refusal {
  const quantity = order.quantity ?? 0n
  const books = order.legs?.map(({ book }) => book) ?? [order.book]
  const unheld = books.filter(({ symbol }) => !account.holdings.has(symbol))
  const before = powerOf(account)
  const refusal = admit(order, quantity, at)
  const after = powerOf(account)
  const held = order.heldReserve
  const holding = account.holdings.get(order.book.symbol)
  if (refusal === null && holding !== undefined) {
    hold(order, holding, 0n)
    account.multiLegOrders.delete(order)
  }
  for (const { symbol } of unheld) {
    const made = account.holdings.get(symbol)
    if (made !== undefined) dropHolding(account, made)
  }
  return refusal ?? viewOf(order, quantity, { power: after - before, held })
}

function viewOf(order: Order, quantity: Quantity, { power, held }: { readonly power: Money; readonly held: Money }): PreviewView {
  const { account, book } = order
  const price = order.legs === null ? priceOf(order, quantity) : netPriceOf(order)
  const value = price === null ? null : price * quantity * book.spec.multiplier
  const isFuture = book.spec.future !== null
  const isOnMargin = account.accountType === 'margin' || account.accountType === 'futures'
  return {
    currency: account.currency,
    price: price === null ? null : formatScaled(price),
    // A future has no purchase price.
    cost: value === null || isFuture ? null : formatMoney(order.buy ? value : -value),
    fees: value === null ? null : formatMoney(feesOf(order, quantity, value)),
    initialMargin: isOnMargin && held > 0n ? formatMoney(held) : null,
    buyingPower: formatMoney(power),
    warnings: warningsOf(order)
  }
}

function powerOf(account: Account): Money {
  const { excess, reserved } = worthOf(account)
  return purchasePower(account, excess - reserved)
}

/** The limit or the stop; otherwise the average price of the displayed book for that quantity. */
function priceOf({ book, buy, limit, stop }: Order, quantity: Quantity): Price | null {
  return limit ?? stop ?? averageOf(book, buy, quantity) ?? touchOf(book, buy) ?? book.mark
}

function averageOf(book: OrderBook, buy: boolean, quantity: Quantity): Price | null {
  let [missing, paid] = [quantity, 0n]
  for (const { price, left } of buy ? book.externalAsks : book.externalBids) {
    const taken = min(missing, left)
    paid += taken * price
    missing -= taken
    if (missing === 0n) return divideUp(paid, quantity)
  }
  return null
}

/** Signed as the order's side: for a sale, the amount received. */
function netPriceOf({ legs, limit, buy }: Order): Price | null {
  if (limit !== null) return limit
  let net = 0n
  for (const leg of legs ?? []) {
    const price = touchOf(leg.book, leg.buy) ?? leg.book.mark
    if (price === null) return null
    net += (leg.buy ? price : -price) * leg.ratio
  }
  return buy ? net : -net
}

function feesOf({ legs, book, buy }: Order, quantity: Quantity, value: Money): Money {
  const parts = legs?.map(leg => ({
    ...leg,
    value: quantity * leg.ratio * (touchOf(leg.book, leg.buy) ?? leg.book.mark ?? 0n) * leg.book.spec.multiplier
  }))
  return (parts ?? [{ book, buy, value }]).reduce((fees, part) => {
    const { buyFee, sellFee } = part.book.spec
    return fees + roundToCents(feeOf(part.value, part.buy ? buyFee : sellFee))
  }, 0n)
}

function warningsOf({ book }: Order): readonly string[] {
  if (book.halted) return [`${book.symbol} is halted; the order waits for its trading to resume.`]
  return book.market.phase === 'open' ? [] : [`The market of ${book.symbol} is not open; the order waits for its hours.`]
}
