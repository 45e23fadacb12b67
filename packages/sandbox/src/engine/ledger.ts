/** Double entry: every amount that a customer receives leaves a counter-account, and vice versa. */
import type { TransactionType } from '@trunkline/core/domain/vocabulary'
import type { CommandContext } from './command-context.ts'
import { accountDate, settlementDate, tradeDate } from './sessions.ts'
import { type Account, type Counterparts, type EngineState, type Holding, holdingOf, type OrderBook } from './state.ts'
import { abs, formatMoney, formatScaled, type Money, min, type Price, type Quantity, roundToCents } from './units.ts'

export function counterpartsOf(state: EngineState, currency: string): Counterparts {
  const there = state.counterparts.get(currency)
  if (there !== undefined) return there
  const made: Counterparts = { street: 0n, bank: 0n, fees: 0n, dividends: 0n, interest: 0n }
  state.counterparts.set(currency, made)
  return made
}

export interface Trade {
  readonly book: OrderBook
  readonly buy: boolean
  readonly quantity: Quantity
  readonly price: Price
  readonly value: Money
  readonly fee: Money
  /** Null with `execId`: shares moved by the exercise or assignment of an option. */
  readonly orderId: string | null
  readonly execId: string | null
  /** Whether the counterparty is the external market. Otherwise it is another customer, whose entry balances this one. */
  readonly street: boolean
}

/** Enters one side of a trade: cash, position, fee, settlement and its transaction. A future moves only its profit or loss as cash. */
export function enterTrade(context: CommandContext, account: Account, trade: Trade): void {
  const { book, buy, quantity, value, fee } = trade
  const counter = counterpartsOf(context.state, account.currency)
  const holding = holdingOf(account, book, context.state.now)
  holding.updatedAt = context.state.now
  const realized = move(holding, buy ? quantity : -quantity, buy ? value : -value)
  const future = book.spec.future !== null
  const proceeds = future ? realized : buy ? -value : value
  const amount = proceeds - fee
  account.cash += amount
  account.fees += fee
  account.realized += realized
  counter.fees += fee
  // The clearing house is between the two sides of a future, so each side's profit is its loss.
  if (trade.street || future) counter.street -= proceeds
  if (trade.street) book.streetUnits -= buy ? quantity : -quantity
  const date = tradeDate(book.market, context.state.now)
  const settles = settlementDate(date, book.spec.source.settlementDays)
  if (!buy && account.accountType === 'cash' && settles > date) deferCash(account, book, settles, amount)
  context.transaction(account, {
    type: buy ? 'BUY' : 'SELL',
    symbol: book.symbol,
    kind: book.spec.source.kind,
    quantity: formatScaled(quantity),
    price: formatScaled(trade.price),
    amount: formatMoney(amount),
    fees: formatMoney(fee),
    date,
    settlementDate: settles,
    orderId: trade.orderId,
    execId: trade.execId,
    description: `${buy ? 'Bought' : 'Sold'} ${formatScaled(quantity)} ${book.symbol} at ${formatScaled(trade.price)}`
  })
}

/** A position that ends or is settled other than by a trade. */
export interface Closing {
  readonly type: TransactionType
  /** The quantity removed from the position, with the position's sign. */
  readonly units: Quantity
  /** Received for it; negative if paid. */
  readonly cash: Money
  readonly description: string
}

/** Removes contracts from a position; the external market takes them over and pays. */
export function endContracts(
  context: CommandContext,
  account: Account,
  holding: Holding,
  { type, units, cash, description }: Closing
): void {
  const { book } = holding
  holding.updatedAt = context.state.now
  // A future was settled just before: its cost equals its value, so there is no further profit or loss.
  const realized = move(holding, -units, book.spec.future === null ? -cash : -holding.cost)
  account.realized += realized
  book.streetUnits += units
  showClosing(context, account, book, { type, units, cash, description })
}

/** Pays a future's profit or loss against its cost, which becomes its value at the settlement price. */
export function settleHolding(context: CommandContext, account: Account, holding: Holding, price: Price): Money {
  const { book, quantity } = holding
  const value = quantity * price * book.spec.multiplier
  const variation = value - holding.cost
  holding.cost = value
  holding.realized += variation
  holding.updatedAt = context.state.now
  account.realized += variation
  return variation
}

/** Pays a closing's cash and enters its transaction. */
export function showClosing(context: CommandContext, account: Account, book: OrderBook, { type, units, cash, description }: Closing): void {
  account.cash += cash
  counterpartsOf(context.state, account.currency).street -= cash
  const date = tradeDate(book.market, context.state.now)
  context.transaction(account, {
    type,
    symbol: book.symbol,
    kind: book.spec.source.kind,
    quantity: formatScaled(abs(units)),
    price: null,
    amount: formatMoney(cash),
    fees: '0.00',
    date,
    settlementDate: date,
    orderId: null,
    execId: null,
    description
  })
  context.touch(account, book.symbol)
}

/** Changes a position by a signed quantity for a signed value, at average cost. Returns the realised profit. */
function move(holding: Holding, units: Quantity, value: Money): Money {
  holding.dayBasis += value
  const before = holding.quantity
  if (before === 0n || before > 0n === units > 0n) {
    if (before === 0n) restart(holding)
    holding.quantity += units
    holding.cost += value
    return 0n
  }
  const closing = min(abs(units), abs(before))
  const whole = closing === abs(before)
  const share = (holding.cost * closing) / abs(before)
  // A future's profit is paid in cash, which has no unit below a cent; the rounding remainder stays in the cost.
  const costOfClosed = whole ? holding.cost : holding.book.spec.future === null ? share : roundToCents(share)
  const valueOfClosed = closing === abs(units) ? value : (value * closing) / abs(units)
  const realized = -costOfClosed - valueOfClosed
  holding.quantity += units
  holding.cost -= costOfClosed
  holding.realized += realized
  if (closing !== abs(units)) {
    restart(holding)
    holding.cost = value - valueOfClosed
  }
  return realized
}

function restart(holding: Holding): void {
  holding.realized = 0n
  holding.openedAt = holding.updatedAt
}

function deferCash(account: Account, book: OrderBook, date: string, amount: Money): void {
  const market = book.market.name
  const at = account.unsettled.findIndex(entry => entry.market === market && entry.date === date)
  const there = account.unsettled[at]
  if (there === undefined) account.unsettled.push({ market, date, amount })
  else account.unsettled[at] = { market, date, amount: there.amount + amount }
  account.unsettledSum += amount
}

/** Settles the cash of a market's sales up to the date. */
export function settleCash(context: CommandContext, market: string, date: string): void {
  for (const account of context.state.accounts.values()) {
    const due = account.unsettled.filter(entry => entry.market === market && entry.date <= date)
    if (due.length === 0) continue
    account.unsettled = account.unsettled.filter(entry => !due.includes(entry))
    for (const entry of due) account.unsettledSum -= entry.amount
    context.touch(account, null)
  }
}

export interface CashEntry {
  readonly type: TransactionType
  readonly from: Exclude<keyof Counterparts, 'street'>
  /** Signed, as the customer sees it. */
  readonly amount: Money
  readonly description: string
  readonly symbol: string | null
  readonly kind: OrderBook['spec']['source']['kind'] | null
}

/** Moves cash between a customer and a counter-account. */
export function enterCash(context: CommandContext, account: Account, entry: CashEntry): void {
  account.cash += entry.amount
  counterpartsOf(context.state, account.currency)[entry.from] -= entry.amount
  const date = accountDate(context.state.now)
  context.transaction(account, {
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
  context.touch(account, entry.symbol)
}
