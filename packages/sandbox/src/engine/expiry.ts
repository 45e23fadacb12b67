/** The expiration of contracts, and the daily settlement of futures. */
import type { CommandContext } from './command-context.ts'
import { end } from './execution.ts'
import { answer, use, worthAt } from './exercise.ts'
import { endContracts, settleHolding, showClosing } from './ledger.ts'
import { sellable, worthOf } from './margin.ts'
import { bookOf, ordersOf } from './market.ts'
import { daysToMicros } from './sessions.ts'
import { type Account, dropHolding, type Holding, type OptionSpec, type OrderBook } from './state.ts'
import type { ExpireCommand, SettleCommand } from './types.ts'
import { abs, floorTo, formatScaled, max, min, ONE, type Price, positive, type Quantity } from './units.ts'

/** In the money by this much: exercised automatically. */
const CENT = ONE / 100n
/** Days after its last trade until a contract whose expiry never arrives, because it is no longer followed, is dropped. */
const REMEMBERED_DAYS = 1

export function settle(context: CommandContext, command: SettleCommand) {
  const price = positive(command.price, 'settlement price')
  const book = bookOf(context, command)
  if (book === undefined) return
  if (book.spec.future === null) return context.refused(command, null, noContract(book))
  if (book.over) return
  eachHolding(context, book, (account, holding) => settleOne(context, account, holding, price, 'Settlement'))
  book.mark = price
}

function settleOne(context: CommandContext, account: Account, holding: Holding, price: Price, what: string): void {
  const { book, quantity } = holding
  const cash = settleHolding(context, account, holding, price)
  const description = `${what} of ${formatScaled(quantity)} ${book.symbol} at ${formatScaled(price)}`
  showClosing(context, account, book, { type: 'ADJUSTMENT', units: quantity, cash, description })
}

export function expire(context: CommandContext, command: ExpireCommand) {
  const price = positive(command.price, 'settlement price')
  const book = bookOf(context, command)
  if (book === undefined) return
  const { option, future } = book.spec
  if (option === null && future === null) return context.refused(command, null, noContract(book))
  if (book.over) return
  const orders = [...ordersOf(book), ...book.opening.items(), ...book.closing.items(), ...book.multiLegOrders]
  for (const order of orders) end(context, order, 'expired', 'expired_contract', `${book.symbol} has ended.`)
  if (future !== null) book.mark = price
  eachHolding(context, book, (account, holding) => {
    if (option !== null) endOption(context, account, holding, option, price)
    else endFuture(context, account, holding, price)
  })
  book.over = true
  book.externalBids = []
  book.externalAsks = []
  book.market.books.splice(book.market.books.indexOf(book), 1)
}

function endFuture(context: CommandContext, account: Account, holding: Holding, price: Price): void {
  settleOne(context, account, holding, price, 'Final settlement')
  showEnd(context, account, holding)
}

function showEnd(context: CommandContext, account: Account, holding: Holding): void {
  const { book, quantity } = holding
  const description = `Expired ${formatScaled(abs(quantity))} ${book.symbol}`
  endContracts(context, account, holding, { type: 'EXPIRATION', units: quantity, cash: 0n, description })
}

/** Every long in the money is exercised, so every short in the money is assigned: no lot is drawn. */
function endOption(context: CommandContext, account: Account, holding: Holding, option: OptionSpec, price: Price): void {
  const { quantity } = holding
  if (worthAt(option, price) < CENT) showEnd(context, account, holding)
  else if (quantity < 0n) answer(context, account, holding, { quantity: -quantity, price })
  else {
    const taken = option.physical ? min(quantity, deliverable(account, holding, option)) : quantity
    use(context, account, holding, { quantity: taken, price, inCash: false })
    use(context, account, holding, { quantity: quantity - taken, price, inCash: true })
  }
}

/** The contracts that an account without margin can pay for or deliver shares for. Margin accounts may go into debt or short. */
function deliverable(account: Account, { book, quantity }: Holding, { call, strike, underlying }: OptionSpec): Quantity {
  if (account.accountType === 'margin') return quantity
  const { multiplier } = book.spec
  if (call) {
    const { excess, reserved } = worthOf(account)
    return floorTo(max(0n, excess - reserved) / (strike * multiplier), ONE)
  }
  // Shares that cover short calls, or calls about to be sold, are not delivered.
  let promised = 0n
  for (const { book: other, quantity: held, sells } of account.options.get(underlying) ?? [])
    if (held <= 0n && other.spec.option?.call === true) promised += (sells.quantity - held) * other.spec.multiplier
  return floorTo(max(0n, sellable(account.holdings.get(underlying)) - promised) / multiplier, ONE)
}

/** Forgets ended contracts without holdings and orders. Once a day. */
export function forgetContracts(context: CommandContext): void {
  const { books, accounts, now } = context.state
  const before = now - daysToMicros(REMEMBERED_DAYS)
  const old = [...books.values()].filter(({ spec: { option, future }, references, over }) => {
    const contract = option ?? future
    return references === 0 && contract !== null && (over || contract.lastTradeAt < before)
  })
  if (old.length === 0) return
  const free = new Set(old)
  for (const account of accounts.values()) {
    for (const holding of [...account.holdings.values()]) {
      if (!free.has(holding.book)) continue
      if (holding.quantity === 0n) dropHolding(account, holding)
      else free.delete(holding.book)
    }
  }
  for (const book of free) {
    books.delete(book.symbol)
    const at = book.market.books.indexOf(book)
    if (at >= 0) book.market.books.splice(at, 1)
  }
}

function eachHolding(context: CommandContext, book: OrderBook, handle: (account: Account, holding: Holding) => void): void {
  for (const account of context.state.accounts.values()) {
    const holding = account.holdings.get(book.symbol)
    if (holding !== undefined && holding.quantity !== 0n) handle(account, holding)
  }
}

function noContract(book: OrderBook) {
  return { code: 'bad_instrument', message: `${book.symbol} is not a contract that can be settled or end this way.` } as const
}
