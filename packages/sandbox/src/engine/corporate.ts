/** Accounts, instruments, and cash movements without a trade. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { CommandContext, Refusal } from './command-context.ts'
import { end } from './execution.ts'
import { enterCash } from './ledger.ts'
import { unknownAccount } from './lifecycle.ts'
import { worthOf } from './margin.ts'
import { bookOf, marketOf } from './market.ts'
import { accountDate } from './sessions.ts'
import { specOf } from './specs.ts'
import { type Account, newBook, type OrderBook, type Spec } from './state.ts'
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

export function listInstrument(context: CommandContext, command: ListInstrumentCommand) {
  const spec = specOf(command.spec)
  const { symbol, kind, market, currency } = command.spec
  const there = context.book(symbol)
  const problem = checkTerms(context, spec, there)
  if (problem !== null) return context.refused(command, null, problem)
  if (there === undefined) {
    const book = newBook(symbol, spec, marketOf(context, market))
    context.state.books.set(symbol, book)
    book.market.books.push(book)
    tieUnderlyings(context, book)
    return
  }
  const was = there.spec.source
  if (was.kind !== kind || was.market !== market || was.currency !== currency || there.spec.multiplier !== spec.multiplier) {
    const message = `${symbol}: an instrument's kind, market, currency and multiplier cannot change.`
    return context.refused(command, null, { code: 'bad_instrument', message })
  }
  there.spec = spec
}

/** Whether the specification's terms fit its kind, and the contract as it is known already. */
function checkTerms(
  context: CommandContext,
  { source, option, future, lot, fraction }: Spec,
  there: OrderBook | undefined
): Refusal | null {
  const { symbol, kind } = source
  const bad = (what: string): Refusal => ({ code: 'bad_instrument', message: `${symbol}: ${what}.` })
  if ((kind === 'OPT') !== (option !== null) || (kind === 'FUT') !== (future !== null)) return bad(`its terms are not those of ${kind}`)
  if (option === null && future === null) return null
  if (lot % ONE !== 0n || fraction % ONE !== 0n) return bad('contracts trade in whole numbers')
  if (there?.over === true) return { code: 'expired_contract', message: `${symbol} has ended.` }
  if (option?.physical === true && context.book(option.underlying) === undefined)
    return bad(`list ${option.underlying}, which it delivers, first`)
  const was = there?.spec.source
  return was === undefined || sameTerms(was, source) ? null : bad("a contract's terms cannot change, except for the margin of a future")
}

function sameTerms(was: InstrumentSpec, now: InstrumentSpec): boolean {
  const fixed = ({ option, future }: InstrumentSpec) => JSON.stringify([option, future?.root, future?.month, future?.lastTradeAt])
  return fixed(was) === fixed(now)
}

function tieUnderlyings(context: CommandContext, book: OrderBook): void {
  const { option } = book.spec
  if (option !== null) book.underlying = context.book(option.underlying) ?? null
  else for (const other of context.state.books.values()) if (other.spec.option?.underlying === book.symbol) other.underlying = book
}

const PERMITTED: { readonly [type in AccountType]: readonly InstrumentKind[] } = {
  margin: ['STK', 'OPT'],
  cash: ['STK', 'OPT'],
  crypto: ['CRYPTO'],
  futures: ['FUT']
}

export function permit(context: CommandContext, command: PermitCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  account.permitted = [...new Set([...account.permitted, ...command.kinds])]
}

export function openAccount(context: CommandContext, command: OpenAccountCommand) {
  const deposit = toMoney(nonNegative(command.deposit, 'deposit'))
  if (context.account(command.accountId) !== undefined) {
    return context.refused(command, command.accountId, {
      code: 'duplicate_account',
      message: `The account ${command.accountId} exists already.`
    })
  }
  const account: Account = {
    id: command.accountId,
    number: command.number,
    accountType: command.accountType,
    currency: command.currency,
    permitted: command.permitted ?? PERMITTED[command.accountType],
    openedAt: context.state.now,
    cash: 0n,
    unsettled: [],
    unsettledSum: 0n,
    realized: 0n,
    fees: 0n,
    flatReserve: 0n,
    holdings: new Map(),
    options: new Map(),
    multiLegOrders: new Set(),
    clientOrderIds: new Map(),
    orders: [],
    forgotten: 0,
    live: new Set(),
    transactions: []
  }
  context.state.accounts.set(account.id, account)
  context.opened(account)
  if (deposit > 0n)
    enterCash(context, account, { type: 'DEPOSIT', from: 'bank', amount: deposit, description: 'First deposit', symbol: null, kind: null })
}

export function moveCash(context: CommandContext, command: CashCommand) {
  const amount = toMoney(positive(command.amount, command.type))
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  if (command.type === 'deposit') {
    return enterCash(context, account, { type: 'DEPOSIT', from: 'bank', amount, description: 'Deposit', symbol: null, kind: null })
  }
  const worth = worthOf(account)
  const free = min(worth.excess - worth.reserved, account.cash - account.unsettledSum)
  if (amount > free) {
    const message = `${formatMoney(free < 0n ? 0n : free)} can be withdrawn; ${formatMoney(amount)} was requested.`
    return context.refused(command, account.id, { code: 'insufficient_cash', message })
  }
  enterCash(context, account, { type: 'WITHDRAWAL', from: 'bank', amount: -amount, description: 'Withdrawal', symbol: null, kind: null })
}

export function interest(context: CommandContext, command: InterestCommand) {
  const amount = toMoney(signed(command.amount, 'interest'))
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  if (amount === 0n) return
  const description = command.description ?? (amount > 0n ? 'Interest paid' : 'Interest charged')
  enterCash(context, account, { type: 'INTEREST', from: 'interest', amount, description, symbol: null, kind: null })
}

export function dividend(context: CommandContext, command: DividendCommand): void {
  const each = positive(command.amountPerUnit, 'dividend')
  const book = bookOf(context, command)
  if (book === undefined) return
  for (const account of context.state.accounts.values()) {
    const units = account.holdings.get(book.symbol)?.quantity ?? 0n
    const amount = roundToCents(units * each * book.spec.multiplier)
    if (amount === 0n) continue
    const description = `Dividend of ${formatScaled(each)} on ${formatScaled(abs(units))} ${book.symbol}${units < 0n ? ' sold short' : ''}`
    enterCash(context, account, {
      type: 'DIVIDEND',
      from: 'dividends',
      amount,
      description,
      symbol: book.symbol,
      kind: book.spec.source.kind
    })
  }
}

export function split(context: CommandContext, command: SplitCommand) {
  const [up, down] = [ratio(command.numerator, 'numerator'), ratio(command.denominator, 'denominator')]
  const book = bookOf(context, command)
  if (book === undefined) return
  if (book.spec.option !== null || book.spec.future !== null || hasOptions(context, book)) {
    const message = `${book.symbol} cannot be split while options on it are held or ordered; nor can a contract.`
    return context.refused(command, null, { code: 'bad_instrument', message })
  }
  const words = `${up} for ${down} split`
  for (const account of context.state.accounts.values()) {
    for (const order of [...account.live]) if (order.book === book) end(context, order, 'canceled', 'split', `Canceled by a ${words}.`)
  }
  let held = 0n
  for (const account of context.state.accounts.values()) held += splitHolding(context, account, book, { up, down, words })
  book.streetUnits = -held
  book.externalBids = []
  book.externalAsks = []
  const rescaled = (price: bigint | null) => (price === null ? null : (price * down) / up)
  book.last = rescaled(book.last)
  book.mark = rescaled(book.mark)
  book.previousClose = rescaled(book.previousClose)
  book.sessionLast = rescaled(book.sessionLast)
}

function hasOptions(context: CommandContext, { symbol }: OrderBook): boolean {
  for (const account of context.state.accounts.values()) {
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

/** Returns the quantity held afterwards. The total cost stays, so the average price adjusts itself. */
function splitHolding(context: CommandContext, account: Account, book: OrderBook, { up, down, words }: Ratio): bigint {
  const holding = account.holdings.get(book.symbol)
  if (holding === undefined || holding.quantity === 0n) return 0n
  const before = holding.quantity
  holding.quantity = (before * up) / down
  holding.updatedAt = context.state.now
  const date = accountDate(context.state.now)
  context.transaction(account, {
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
  context.touch(account, book.symbol)
  return holding.quantity
}

function ratio(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000)
    throw new Malformed(`split ${what}`, 'a whole number from 1 to 1000000', value)
  return BigInt(value)
}
