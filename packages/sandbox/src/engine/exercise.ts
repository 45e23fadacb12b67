/**
 * Exercise and assignment of options. The counterparty of every option is the external market, which holds the opposite of the customers'
 * net position, so money and units balance contract by contract.
 *
 * Physical contracts move the underlying at the strike; cash contracts pay their intrinsic value. The premium is realised when the option
 * ends: the shares then have the strike as their cost.
 */
import type { CommandContext, Refusal } from './command-context.ts'
import { end } from './execution.ts'
import { endContracts, enterTrade } from './ledger.ts'
import { unknownAccount } from './lifecycle.ts'
import { drawn } from './lot.ts'
import { sellable, worthOf } from './margin.ts'
import { bookOf } from './market.ts'
import { type Account, closes, type Holding, holdingOf, isLive, type OptionSpec, type Order, type OrderBook } from './state.ts'
import type { ExerciseCommand } from './types.ts'
import { formatScaled, type Money, max, min, ONE, type Price, type Quantity, readScaled } from './units.ts'

export function exercise(context: CommandContext, command: ExerciseCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const book = bookOf(context, command)
  if (book === undefined) return
  const quantity = readScaled(command.quantity) ?? 0n
  const refusal = checkExercise(context, account, book, quantity)
  if (refusal !== null) return context.refused(command, account.id, refusal)
  const price = book.underlying?.mark ?? 0n
  use(context, account, holdingOf(account, book, context.state.now), { quantity, price, inCash: false })
  assign(context, book, quantity, price)
}

function checkExercise(context: CommandContext, account: Account, book: OrderBook, quantity: Quantity): Refusal | null {
  const { option, multiplier } = book.spec
  if (option === null || !option.american)
    return { code: 'bad_instrument', message: `${book.symbol} cannot be exercised before its expiration.` }
  if (book.over || context.state.now >= option.lastTradeAt) return { code: 'expired_contract', message: `${book.symbol} has ended.` }
  if (quantity <= 0n || quantity % ONE !== 0n)
    return { code: 'bad_quantity', message: 'Exercise a whole number of contracts, one or more.' }
  const holding = account.holdings.get(book.symbol)
  const free = sellable(holding)
  if (holding === undefined || quantity > free) {
    const message = `${formatScaled(free)} ${book.symbol} can be exercised (open orders counted); ${formatScaled(quantity)} were requested.`
    return { code: 'insufficient_position', message }
  }
  if (!option.physical)
    return (book.underlying?.mark ?? null) === null
      ? { code: 'no_price', message: `${option.underlying} has no price to settle ${book.symbol} at.` }
      : null
  return checkDelivery(context, account, holding, { option, quantity, units: quantity * multiplier })
}

interface Delivery {
  readonly option: OptionSpec
  readonly quantity: Quantity
  readonly units: Quantity
}

/** Whether the account can hold the resulting position: shares to deliver or permission to be short, and enough money. */
function checkDelivery(context: CommandContext, account: Account, holding: Holding, { option, quantity, units }: Delivery): Refusal | null {
  const { underlying } = holding.book
  if (underlying === null) return null
  const shares = holdingOf(account, underlying, context.state.now)
  if (!option.call && units > sellable(shares) && (account.accountType !== 'margin' || !underlying.spec.source.shortable)) {
    const message = `${formatScaled(units)} ${underlying.symbol} would have to be delivered; ${formatScaled(sellable(shares))} are free.`
    return { code: 'insufficient_position', message }
  }
  const before = worthOf(account)
  const after = worthAfter(account, holding, shares, { option, quantity, units })
  if (after.uncovered > before.uncovered)
    return {
      code: 'insufficient_position',
      message: `The ${underlying.symbol} to be delivered cover short calls; close those first.`
    }
  const [had, left] = [before.excess - before.reserved, after.excess - after.reserved]
  if (left >= 0n || left >= had) return null
  return {
    code: 'insufficient_buying_power',
    message: `Exercising takes ${formatScaled(units)} ${underlying.symbol} at ${formatScaled(option.strike)}, more than the account has funds for.`
  }
}

/** The account's worth if it had exercised. Restores the state before it returns. */
function worthAfter(account: Account, holding: Holding, shares: Holding, { option, quantity, units }: Delivery) {
  const { cash } = account
  const [contracts, held] = [holding.quantity, shares.quantity]
  holding.quantity -= quantity
  shares.quantity += option.call ? units : -units
  account.cash += option.call ? -units * option.strike : units * option.strike
  try {
    return worthOf(account)
  } finally {
    account.cash = cash
    holding.quantity = contracts
    shares.quantity = held
  }
}

/**
 * The shorts assigned on an early exercise, by lot: a drawn account is assigned its whole short position, until the quantity is reached.
 */
function assign(context: CommandContext, book: OrderBook, quantity: Quantity, price: Price): void {
  const { counters, settings, accounts } = context.state
  // The external market has taken over the exercised contracts: before that, it was short that many more. It is the null entry.
  let street = max(0n, quantity - book.streetUnits)
  const shorts: ({ readonly account: Account; readonly holding: Holding } | null)[] = street > 0n ? [null] : []
  for (const account of accounts.values()) {
    const holding = account.holdings.get(book.symbol)
    if (holding !== undefined && holding.quantity < 0n) shorts.push({ account, holding })
  }
  let left = quantity
  for (const short of drawn(shorts, `${settings.seed} ${counters.transaction}`)) {
    const part = min(left, short === null ? street : -short.holding.quantity)
    if (short === null) street -= part
    else answer(context, short.account, short.holding, { quantity: part, price })
    left -= part
  }
}

interface Use {
  readonly quantity: Quantity
  /** Of the underlying. */
  readonly price: Price
  /** Whether a physical contract is paid in cash, for an account that cannot take delivery. */
  readonly inCash: boolean
}

/** Exercises a long position. */
export function use(context: CommandContext, account: Account, holding: Holding, { quantity, price, inCash }: Use): void {
  const { book } = holding
  const { option, multiplier } = book.spec
  if (option === null || quantity === 0n) return
  const cash = option.physical && !inCash ? 0n : quantity * worthAt(option, price) * multiplier
  const note = inCash ? ', paid out because the account cannot take delivery' : ''
  const description = `Exercised ${formatScaled(quantity)} ${book.symbol}${note}`
  endContracts(context, account, holding, { type: 'EXERCISE', units: quantity, cash, description })
  if (option.physical && !inCash) deliver(context, account, book, { option, buy: option.call, units: quantity * multiplier })
}

/** Assigns a short position. */
export function answer(context: CommandContext, account: Account, holding: Holding, { quantity, price }: Omit<Use, 'inCash'>): void {
  const { book } = holding
  const { option, multiplier } = book.spec
  if (option === null || quantity === 0n) return
  const cash = option.physical ? 0n : -quantity * worthAt(option, price) * multiplier
  const description = `Assigned ${formatScaled(quantity)} ${book.symbol}`
  endContracts(context, account, holding, { type: 'ASSIGNMENT', units: -quantity, cash, description })
  if (option.physical) deliver(context, account, book, { option, buy: !option.call, units: quantity * multiplier })
  dropClosers(context, account, holding)
}

/** The intrinsic value of a contract, per unit; zero or more. */
export function worthAt({ call, strike }: OptionSpec, price: Price): Price {
  return max(0n, call ? price - strike : strike - price)
}

function deliver(
  context: CommandContext,
  account: Account,
  { underlying }: OrderBook,
  { option, buy, units }: Omit<Delivery, 'quantity'> & { readonly buy: boolean }
): void {
  if (underlying === null) return
  const value: Money = units * option.strike * underlying.spec.multiplier
  const trade = { book: underlying, buy, quantity: units, price: option.strike, value, fee: 0n }
  enterTrade(context, account, { ...trade, orderId: null, execId: null, street: true })
  context.touch(account, underlying.symbol)
}

/** Ends orders that would close more than is left, the newest first. */
function dropClosers(context: CommandContext, account: Account, holding: Holding): void {
  const { book } = holding
  const newest = [...account.live].sort((a, b) => b.number - a.number)
  for (const order of newest) {
    if (holding.buys.quantity <= -holding.quantity || holding.quantity > 0n) return
    if (isLive(order) && closesBook(order, book))
      end(context, order, 'canceled', 'insufficient_position', 'An assignment left less to close.')
  }
}

function closesBook(order: Order, book: OrderBook): boolean {
  if (order.legs === null) return order.book === book && closes(order.side)
  return order.legs.some(leg => leg.book === book && closes(leg.side))
}
