/** Double entry: every amount that reaches a customer leaves a counter-account, and the other way round. */
import type { TransactionType } from '@trunkline/core/domain/vocabulary'
import type { Desk } from './desk.ts'
import { settlementDate, tradeDate, utcDate } from './sessions.ts'
import { type Account, type Book, type Counterparts, type EngineState, type Holding, holdingOf, type Order } from './state.ts'
import { abs, formatMoney, formatScaled, type Money, min, type Price, type Quantity } from './units.ts'

export function counterpartsOf(state: EngineState, currency: string): Counterparts {
  const there = state.counterparts.get(currency)
  if (there !== undefined) return there
  const made: Counterparts = { street: 0n, bank: 0n, fees: 0n, dividends: 0n, interest: 0n }
  state.counterparts.set(currency, made)
  return made
}

export interface Trade {
  readonly quantity: Quantity
  readonly price: Price
  readonly value: Money
  readonly fee: Money
  readonly execId: string
  /** Whether the other side is the external market; else it is another customer, whose own entry balances this one. */
  readonly street: boolean
}

/** Enters one side of a trade: cash, position, fee, settlement, and the transaction that shows it. */
export function enterTrade(desk: Desk, order: Order, trade: Trade): void {
  const { account, book, buy } = order
  const { quantity, value, fee } = trade
  const counter = counterpartsOf(desk.state, account.currency)
  const amount = (buy ? -value : value) - fee
  account.cash += amount
  account.fees += fee
  counter.fees += fee
  if (trade.street) {
    counter.street += buy ? value : -value
    book.streetUnits -= buy ? quantity : -quantity
  }
  const holding = holdingOf(account, book, desk.state.now)
  const realized = move(holding, buy ? quantity : -quantity, buy ? value : -value)
  account.realized += realized
  holding.updatedAt = desk.state.now
  const date = tradeDate(book.market, desk.state.now)
  const settles = settlementDate(date, book.spec.source.settlementDays)
  if (!buy && account.accountType === 'cash' && settles > date) deferCash(account, book, settles, amount)
  desk.transaction(account, {
    type: buy ? 'BUY' : 'SELL',
    symbol: book.symbol,
    kind: book.spec.source.kind,
    quantity: formatScaled(quantity),
    price: formatScaled(trade.price),
    amount: formatMoney(amount),
    fees: formatMoney(fee),
    date,
    settlementDate: settles,
    orderId: order.id,
    execId: trade.execId,
    description: `${buy ? 'Bought' : 'Sold'} ${formatScaled(quantity)} ${book.symbol} at ${formatScaled(trade.price)}`
  })
}

/** Changes a position by signed units for a signed value; answers the profit this realised. Average cost. */
function move(holding: Holding, units: Quantity, value: Money): Money {
  holding.dayBasis += value
  const before = holding.quantity
  if (before === 0n || before > 0n === units > 0n) {
    if (before === 0n) startAnew(holding)
    holding.quantity += units
    holding.cost += value
    return 0n
  }
  const closing = min(abs(units), abs(before))
  const whole = closing === abs(before)
  const costOfClosed = whole ? holding.cost : (holding.cost * closing) / abs(before)
  const valueOfClosed = closing === abs(units) ? value : (value * closing) / abs(units)
  const realized = -costOfClosed - valueOfClosed
  holding.quantity += units
  holding.cost -= costOfClosed
  holding.realized += realized
  if (closing !== abs(units)) {
    startAnew(holding)
    holding.cost = value - valueOfClosed
  }
  return realized
}

function startAnew(holding: Holding): void {
  holding.realized = 0n
  holding.openedAt = holding.updatedAt
}

function deferCash(account: Account, book: Book, date: string, amount: Money): void {
  const market = book.market.name
  const at = account.unsettled.findIndex(entry => entry.market === market && entry.date === date)
  const there = account.unsettled[at]
  if (there === undefined) account.unsettled.push({ market, date, amount })
  else account.unsettled[at] = { market, date, amount: there.amount + amount }
  account.unsettledSum += amount
}

/** Lets the cash of a market's sales up to the date settle. */
export function settleCash(desk: Desk, market: string, date: string): void {
  for (const account of desk.state.accounts.values()) {
    const due = account.unsettled.filter(entry => entry.market === market && entry.date <= date)
    if (due.length === 0) continue
    account.unsettled = account.unsettled.filter(entry => !due.includes(entry))
    for (const entry of due) account.unsettledSum -= entry.amount
    desk.touch(account, null)
  }
}

export interface CashEntry {
  readonly type: TransactionType
  readonly from: Exclude<keyof Counterparts, 'street'>
  /** Signed, as the customer sees it. */
  readonly amount: Money
  readonly description: string
  readonly symbol: string | null
  readonly kind: Book['spec']['source']['kind'] | null
}

/** Moves cash between a customer and a counter-account. */
export function enterCash(desk: Desk, account: Account, entry: CashEntry): void {
  account.cash += entry.amount
  counterpartsOf(desk.state, account.currency)[entry.from] -= entry.amount
  const date = utcDate(desk.state.now)
  desk.transaction(account, {
    type: entry.type,
    symbol: entry.symbol,
    kind: entry.kind,
    quantity: null,
    price: null,
    amount: formatMoney(entry.amount),
    fees: '0.00',
    date,
    settlementDate: date,
    orderId: null,
    execId: null,
    description: entry.description
  })
  desk.touch(account, entry.symbol)
}
