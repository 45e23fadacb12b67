/** The end of contracts, and the daily settlement of futures. */
import type { Desk } from './desk.ts'
import { end } from './execution.ts'
import { answer, use, worthAt } from './exercise.ts'
import { endContracts, settleHolding, showClosing } from './ledger.ts'
import { sellable, worthOf } from './margin.ts'
import { bookOf, ordersOf } from './market.ts'
import { daysToMicros } from './sessions.ts'
import { type Account, type Book, dropHolding, type Holding, type OptionSpec } from './state.ts'
import type { ExpireCommand, SettleCommand } from './types.ts'
import { abs, floorTo, formatScaled, max, min, ONE, type Price, positive, type Quantity } from './units.ts'

/** In the money by this much is exercised without being asked. */
const CENT = ONE / 100n
/** A contract whose end is never told, because nobody follows it any more, is forgotten so many days after its last trade. */
const REMEMBERED_DAYS = 1

export function settle(desk: Desk, command: SettleCommand) {
  const price = positive(command.price, 'settlement price')
  const book = bookOf(desk, command)
  if (book === undefined) return
  if (book.spec.future === null) return desk.refused(command, null, noContract(book))
  if (book.over) return
  eachHolding(desk, book, (account, holding) => settleOne(desk, account, holding, price, 'Settlement'))
  book.mark = price
}

function settleOne(desk: Desk, account: Account, holding: Holding, price: Price, what: string): void {
  const { book, quantity } = holding
  const cash = settleHolding(desk, account, holding, price)
  const description = `${what} of ${formatScaled(quantity)} ${book.symbol} at ${formatScaled(price)}`
  showClosing(desk, account, book, { type: 'ADJUSTMENT', units: quantity, cash, description })
}

export function expire(desk: Desk, command: ExpireCommand) {
  const price = positive(command.price, 'settlement price')
  const book = bookOf(desk, command)
  if (book === undefined) return
  const { option, future } = book.spec
  if (option === null && future === null) return desk.refused(command, null, noContract(book))
  if (book.over) return
  const orders = [...ordersOf(book), ...book.opening.items(), ...book.closing.items(), ...book.packages]
  for (const order of orders) end(desk, order, 'expired', 'expired_contract', `${book.symbol} has ended.`)
  if (future !== null) book.mark = price
  eachHolding(desk, book, (account, holding) => {
    if (option !== null) endOption(desk, account, holding, option, price)
    else endFuture(desk, account, holding, price)
  })
  book.over = true
  book.externalBids = []
  book.externalAsks = []
  book.market.books.splice(book.market.books.indexOf(book), 1)
}

function endFuture(desk: Desk, account: Account, holding: Holding, price: Price): void {
  settleOne(desk, account, holding, price, 'Final settlement')
  showEnd(desk, account, holding)
}

function showEnd(desk: Desk, account: Account, holding: Holding): void {
  const { book, quantity } = holding
  const description = `Expired ${formatScaled(abs(quantity))} ${book.symbol}`
  endContracts(desk, account, holding, { type: 'EXPIRATION', units: quantity, cash: 0n, description })
}

/** Every long in the money uses its right, so every short in the money is assigned: no lot is needed. */
function endOption(desk: Desk, account: Account, holding: Holding, option: OptionSpec, price: Price): void {
  const { quantity } = holding
  if (worthAt(option, price) < CENT) showEnd(desk, account, holding)
  else if (quantity < 0n) answer(desk, account, holding, { quantity: -quantity, price })
  else {
    const taken = option.physical ? min(quantity, deliverable(account, holding, option)) : quantity
    use(desk, account, holding, { quantity: taken, price, inCash: false })
    use(desk, account, holding, { quantity: quantity - taken, price, inCash: true })
  }
}

/** Contracts an account without margin can pay for or has the shares for; margin accounts may go into debt or short. */
function deliverable(account: Account, { book, quantity }: Holding, { call, strike, underlying }: OptionSpec): Quantity {
  if (account.accountType === 'margin') return quantity
  const { multiplier } = book.spec
  if (call) {
    const { excess, reserved } = worthOf(account)
    return floorTo(max(0n, excess - reserved) / (strike * multiplier), ONE)
  }
  // Shares under calls that were sold, or are about to be, stay where they are.
  let promised = 0n
  for (const { book: other, quantity: held, sells } of account.options.get(underlying) ?? [])
    if (held <= 0n && other.spec.option?.call === true) promised += (sells.quantity - held) * other.spec.multiplier
  return floorTo(max(0n, sellable(account.holdings.get(underlying)) - promised) / multiplier, ONE)
}

/** Forgets contracts that have ended and that nobody holds or has ordered. Once a day. */
export function forgetContracts(desk: Desk): void {
  const { books, accounts, now } = desk.state
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

function eachHolding(desk: Desk, book: Book, act: (account: Account, holding: Holding) => void): void {
  for (const account of desk.state.accounts.values()) {
    const holding = account.holdings.get(book.symbol)
    if (holding !== undefined && holding.quantity !== 0n) act(account, holding)
  }
}

function noContract(book: Book) {
  return { code: 'bad_instrument', message: `${book.symbol} is no contract that could be settled or end this way.` } as const
}
