/** Accounts, instruments and money that moves without a trade. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Desk, Refusal } from './desk.ts'
import { end } from './execution.ts'
import { enterCash } from './ledger.ts'
import { unknownAccount } from './lifecycle.ts'
import { worthOf } from './margin.ts'
import { bookOf, marketOf } from './market.ts'
import { accountDate } from './sessions.ts'
import { specOf } from './specs.ts'
import { type Account, type Book, newBook, type Spec } from './state.ts'
import type {
  AccountType,
  CashCommand,
  DividendCommand,
  InstrumentKind,
  InstrumentSpec,
  InterestCommand,
  ListInstrumentCommand,
  OpenAccountCommand,
  PermitCommand,
  SplitCommand
} from './types.ts'
import { abs, formatMoney, formatScaled, min, nonNegative, ONE, positive, roundToCents, signed, toMoney } from './units.ts'

export function listInstrument(desk: Desk, command: ListInstrumentCommand) {
  const spec = specOf(command.spec)
  const { symbol, kind, market, currency } = command.spec
  const there = desk.book(symbol)
  const problem = checkTerms(desk, spec, there)
  if (problem !== null) return desk.refused(command, null, problem)
  if (there === undefined) {
    const book = newBook(symbol, spec, marketOf(desk, market))
    desk.state.books.set(symbol, book)
    book.market.books.push(book)
    tieUnderlyings(desk, book)
    return
  }
  const was = there.spec.source
  if (was.kind !== kind || was.market !== market || was.currency !== currency || there.spec.multiplier !== spec.multiplier) {
    const message = `${symbol}: an instrument's kind, market, currency and multiplier cannot change.`
    return desk.refused(command, null, { code: 'bad_instrument', message })
  }
  there.spec = spec
}

/** Whether the row's terms go with its kind, and with the contract as it is known already. */
function checkTerms(desk: Desk, { source, option, future, lot, fraction }: Spec, there: Book | undefined): Refusal | null {
  const { symbol, kind } = source
  const bad = (what: string): Refusal => ({ code: 'bad_instrument', message: `${symbol}: ${what}.` })
  if ((kind === 'OPT') !== (option !== null) || (kind === 'FUT') !== (future !== null)) return bad(`its terms are not those of ${kind}`)
  if (option === null && future === null) return null
  if (lot % ONE !== 0n || fraction % ONE !== 0n) return bad('contracts trade in whole numbers')
  if (there?.over === true) return { code: 'expired_contract', message: `${symbol} has ended.` }
  if (option?.physical === true && desk.book(option.underlying) === undefined)
    return bad(`list ${option.underlying}, which it delivers, first`)
  const was = there?.spec.source
  return was === undefined || sameTerms(was, source) ? null : bad("a contract's terms cannot change, but for the margin of a future")
}

function sameTerms(was: InstrumentSpec, now: InstrumentSpec): boolean {
  const fixed = ({ option, future }: InstrumentSpec) => JSON.stringify([option, future?.root, future?.month, future?.lastTradeAt])
  return fixed(was) === fixed(now)
}

function tieUnderlyings(desk: Desk, book: Book): void {
  const { option } = book.spec
  if (option !== null) book.underlying = desk.book(option.underlying) ?? null
  else for (const other of desk.state.books.values()) if (other.spec.option?.underlying === book.symbol) other.underlying = book
}

const PERMITTED: { readonly [type in AccountType]: readonly InstrumentKind[] } = {
  margin: ['STK', 'OPT'],
  cash: ['STK', 'OPT'],
  crypto: ['CRYPTO'],
  futures: ['FUT']
}

export function permit(desk: Desk, command: PermitCommand) {
  const account = desk.account(command.accountId)
  if (account === undefined) return desk.refused(command, command.accountId, unknownAccount(command.accountId))
  account.permitted = [...new Set([...account.permitted, ...command.kinds])]
}

export function openAccount(desk: Desk, command: OpenAccountCommand) {
  const deposit = toMoney(nonNegative(command.deposit, 'deposit'))
  if (desk.account(command.accountId) !== undefined) {
    return desk.refused(command, command.accountId, {
      code: 'duplicate_account',
      message: `There is an account ${command.accountId} already.`
    })
  }
  const account: Account = {
    id: command.accountId,
    number: command.number,
    accountType: command.accountType,
    currency: command.currency,
    permitted: command.permitted ?? PERMITTED[command.accountType],
    openedAt: desk.state.now,
    cash: 0n,
    unsettled: [],
    unsettledSum: 0n,
    realized: 0n,
    fees: 0n,
    flatReserve: 0n,
    holdings: new Map(),
    options: new Map(),
    packages: new Set(),
    clientOrderIds: new Map(),
    orders: [],
    forgotten: 0,
    live: new Set(),
    transactions: []
  }
  desk.state.accounts.set(account.id, account)
  desk.opened(account)
  if (deposit > 0n)
    enterCash(desk, account, { type: 'DEPOSIT', from: 'bank', amount: deposit, description: 'First deposit', symbol: null, kind: null })
}

export function moveCash(desk: Desk, command: CashCommand) {
  const amount = toMoney(positive(command.amount, command.type))
  const account = desk.account(command.accountId)
  if (account === undefined) return desk.refused(command, command.accountId, unknownAccount(command.accountId))
  if (command.type === 'deposit') {
    return enterCash(desk, account, { type: 'DEPOSIT', from: 'bank', amount, description: 'Deposit', symbol: null, kind: null })
  }
  const worth = worthOf(account)
  const free = min(worth.excess - worth.reserved, account.cash - account.unsettledSum)
  if (amount > free) {
    const message = `${formatMoney(free < 0n ? 0n : free)} can be withdrawn; ${formatMoney(amount)} was asked for.`
    return desk.refused(command, account.id, { code: 'insufficient_cash', message })
  }
  enterCash(desk, account, { type: 'WITHDRAWAL', from: 'bank', amount: -amount, description: 'Withdrawal', symbol: null, kind: null })
}

export function interest(desk: Desk, command: InterestCommand) {
  const amount = toMoney(signed(command.amount, 'interest'))
  const account = desk.account(command.accountId)
  if (account === undefined) return desk.refused(command, command.accountId, unknownAccount(command.accountId))
  if (amount === 0n) return
  const description = command.description ?? (amount > 0n ? 'Interest paid' : 'Interest charged')
  enterCash(desk, account, { type: 'INTEREST', from: 'interest', amount, description, symbol: null, kind: null })
}

export function dividend(desk: Desk, command: DividendCommand): void {
  const each = positive(command.amountPerUnit, 'dividend')
  const book = bookOf(desk, command)
  if (book === undefined) return
  for (const account of desk.state.accounts.values()) {
    const units = account.holdings.get(book.symbol)?.quantity ?? 0n
    const amount = roundToCents(units * each * book.spec.multiplier)
    if (amount === 0n) continue
    const description = `Dividend of ${formatScaled(each)} on ${formatScaled(abs(units))} ${book.symbol}${units < 0n ? ' sold short' : ''}`
    enterCash(desk, account, { type: 'DIVIDEND', from: 'dividends', amount, description, symbol: book.symbol, kind: book.spec.source.kind })
  }
}

export function split(desk: Desk, command: SplitCommand) {
  const [up, down] = [ratio(command.numerator, 'numerator'), ratio(command.denominator, 'denominator')]
  const book = bookOf(desk, command)
  if (book === undefined) return
  if (book.spec.option !== null || book.spec.future !== null || hasOptions(desk, book)) {
    const message = `${book.symbol} cannot be split while options on it are held or ordered; nor can a contract.`
    return desk.refused(command, null, { code: 'bad_instrument', message })
  }
  const words = `${up} for ${down} split`
  for (const account of desk.state.accounts.values()) {
    for (const order of [...account.live]) if (order.book === book) end(desk, order, 'canceled', 'split', `Canceled by a ${words}.`)
  }
  let held = 0n
  for (const account of desk.state.accounts.values()) held += splitHolding(desk, account, book, { up, down, words })
  book.streetUnits = -held
  book.externalBids = []
  book.externalAsks = []
  const rescaled = (price: bigint | null) => (price === null ? null : (price * down) / up)
  book.last = rescaled(book.last)
  book.mark = rescaled(book.mark)
  book.previousClose = rescaled(book.previousClose)
  book.sessionLast = rescaled(book.sessionLast)
}

function hasOptions(desk: Desk, { symbol }: Book): boolean {
  for (const account of desk.state.accounts.values()) {
    const holdings = account.options.get(symbol) ?? []
    if (holdings.some(({ quantity, buys, sells }) => quantity !== 0n || buys.quantity > 0n || sells.quantity > 0n)) return true
  }
  return false
}

interface Ratio {
  readonly up: bigint
  readonly down: bigint
  readonly words: string
}

/** Answers the units held afterwards. The cost stays, so the average price follows by itself. */
function splitHolding(desk: Desk, account: Account, book: Book, { up, down, words }: Ratio): bigint {
  const holding = account.holdings.get(book.symbol)
  if (holding === undefined || holding.quantity === 0n) return 0n
  const before = holding.quantity
  holding.quantity = (before * up) / down
  holding.updatedAt = desk.state.now
  const date = accountDate(desk.state.now)
  desk.transaction(account, {
    type: 'SPLIT',
    symbol: book.symbol,
    kind: book.spec.source.kind,
    quantity: formatScaled(abs(holding.quantity - before)),
    price: null,
    amount: '0.00',
    fees: '0.00',
    date,
    settlementDate: date,
    orderId: null,
    execId: null,
    description: `${words}: ${formatScaled(before)} became ${formatScaled(holding.quantity)} ${book.symbol}`
  })
  desk.touch(account, book.symbol)
  return holding.quantity
}

function ratio(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000)
    throw new Malformed(`split ${what}`, 'a whole number from 1 to 1000000', value)
  return BigInt(value)
}
