/**
 * The matching engine and ledger: pure and synchronous. It takes commands, returns events, and has views. The same settings and commands
 * give the same events and views, byte for byte.
 *
 * To survive a crash, write every handled command, in order, to a journal (`JSON.stringify`, one per line; a plain write is enough
 * against a killed process) before its outcome is visible. To bound the replay, write {@link Engine.snapshot} to a file now and then
 * and begin a new journal that the snapshot names. After a restart, {@link Engine.restore} the snapshot and handle the journal's commands;
 * drop their events, which were published before. A command handled twice takes effect twice, so replace snapshot and journal
 * together; `handled` is the number of commands in a snapshot.
 */
import { unreachable } from '@trunkline/core/domain/brand'
import { Malformed } from '@trunkline/core/domain/malformed'
import { CommandContext, type Refusal } from './command-context.ts'
import { dividend, interest, listInstrument, moveCash, openAccount, permit, split } from './corporate.ts'
import { trim } from './execution.ts'
import { exercise } from './exercise.ts'
import { expire, forgetContracts, settle } from './expiry.ts'
import { cancel, execute, find, replace, submit, submitMultiLeg } from './lifecycle.ts'
import { halt, mark, quote, session, tick, trade } from './market.ts'
import { preview } from './preview.ts'
import { selectOrders, selectTransactions } from './queries.ts'
import { readSnapshot, writeSnapshot } from './snapshot.ts'
import { type Account, type EngineState, newState } from './state.ts'
import type {
  AccountView,
  BalanceView,
  Command,
  ConservationView,
  EngineEvent,
  EngineSettings,
  InstrumentSpec,
  MarketView,
  Micros,
  OrderFilter,
  OrderRef,
  OrderView,
  PositionView,
  PreviewCommand,
  PreviewView,
  TransactionFilter,
  TransactionView
} from './types.ts'
import { accountView, balanceView, conservationView, marketView, orderView, positionView } from './views.ts'

export const DEFAULT_SETTINGS: EngineSettings = {
  seed: 'sandbox',
  closedOrdersMax: 50_000,
  transactionsMax: 10_000,
  openOrdersMax: 10_000,
  gtcDays: 90
}

export class Engine {
  readonly #state: EngineState
  readonly #context: CommandContext

  private constructor(state: EngineState) {
    this.#state = state
    this.#context = new CommandContext(state)
  }

  /** A new engine. Missing settings are those of {@link DEFAULT_SETTINGS}. */
  static create(settings: Partial<EngineSettings> = {}): Engine {
    return new Engine(newState({ ...DEFAULT_SETTINGS, ...settings }))
  }

  /**
   * An engine restored from a snapshot.
   * @throws Malformed if it is not a snapshot of this version.
   */
  static restore(snapshot: string): Engine {
    return new Engine(readSnapshot(snapshot))
  }

  /** The whole state, as one opaque JSON text. */
  snapshot(): string {
    return writeSnapshot(this.#state)
  }

  /** Commands handled so far, without those that threw. */
  get handled(): number {
    return this.#state.counters.command
  }

  /** The latest `at` received. */
  get now(): Micros {
    return this.#state.now
  }

  get settings(): EngineSettings {
    return this.#state.settings
  }

  /**
   * Carries out one command and returns its events. A customer's mistake is an event. A malformed command of the sandbox or the market
   * throws and changes nothing.
   * @throws Malformed naming the field.
   */
  handle(command: Command): EngineEvent[] {
    const { at } = command
    if (!Number.isSafeInteger(at) || at < 0) throw new Malformed('at', 'whole microseconds since the epoch', at)
    const before = this.#state.now
    this.#state.now = Math.max(before, at)
    try {
      dispatch(this.#context, command)
    } catch (cause) {
      this.#state.now = before
      throw cause
    }
    this.#state.counters.command++
    trim(this.#context)
    return this.#context.take()
  }

  /** The id of the `number`th accepted order; it need not exist. */
  orderId(number: number): string {
    return this.#context.idOf('order', number)
  }

  accounts(): AccountView[] {
    return [...this.#state.accounts.values()].map(accountView)
  }

  account(accountId: string): AccountView | undefined {
    const account = this.#state.accounts.get(accountId)
    return account === undefined ? undefined : accountView(account)
  }

  /** @throws Malformed if the account does not exist; so do the next four methods. */
  balance(accountId: string): BalanceView {
    return balanceView(this.#account(accountId))
  }

  /** Positions that are not flat, by symbol. */
  positions(accountId: string): PositionView[] {
    const account = this.#account(accountId)
    const held = [...account.holdings.values()].filter(holding => holding.quantity !== 0n)
    return held.sort((a, b) => (a.book.symbol < b.book.symbol ? -1 : 1)).map(holding => positionView(account, holding))
  }

  /** The position, flat ones included; undefined if the symbol was never held or ordered. */
  position(accountId: string, symbol: string): PositionView | undefined {
    const account = this.#account(accountId)
    const holding = account.holdings.get(symbol)
    return holding === undefined ? undefined : positionView(account, holding)
  }

  orders(accountId: string, filter: OrderFilter = {}): OrderView[] {
    return selectOrders(this.#account(accountId), this.#state.orders, filter)
  }

  transactions(accountId: string, filter: TransactionFilter = {}): TransactionView[] {
    return selectTransactions(this.#account(accountId), filter)
  }

  /**
   * One order by either id. `unknown`: never seen. `forgotten`: it closed and was dropped to stay within `closedOrdersMax`; returned
   * for client order ids only.
   */
  order(accountId: string, ref: OrderRef): OrderView | 'unknown' | 'forgotten' {
    const account = this.#state.accounts.get(accountId)
    if (account === undefined) return 'unknown'
    const order = find(this.#context, account, ref)
    if (order !== undefined) return orderView(order)
    return 'clientOrderId' in ref && account.clientOrderIds.has(ref.clientOrderId) ? 'forgotten' : 'unknown'
  }

  instrument(symbol: string): InstrumentSpec | undefined {
    return this.#state.books.get(symbol)?.spec.source
  }

  /** Without ended contracts. */
  instruments(): InstrumentSpec[] {
    return [...this.#state.books.values()].filter(book => !book.over).map(book => book.spec.source)
  }

  market(symbol: string): MarketView | undefined {
    const book = this.#state.books.get(symbol)
    return book === undefined ? undefined : marketView(book)
  }

  /** The effect that an order would have, or why it would be refused. Changes nothing. */
  preview(command: PreviewCommand): PreviewView | Refusal {
    return preview(this.#context, command)
  }

  /** The proof that the state is consistent: see {@link ConservationView}. */
  conservation(): ConservationView {
    return conservationView(this.#state)
  }

  #account(accountId: string): Account {
    const account = this.#state.accounts.get(accountId)
    if (account === undefined) throw new Malformed('account', 'one of this engine', accountId)
    return account
  }
}

function dispatch(context: CommandContext, command: Command) {
  switch (command.type) {
    case 'submit':
      return submit(context, command)
    case 'cancel':
      return cancel(context, command)
    case 'replace':
      return replace(context, command)
    case 'quote':
      return quote(context, command)
    case 'trade':
      return trade(context, command)
    case 'session':
      return session(context, command)
    case 'halt':
      return halt(context, command)
    case 'execute':
      return execute(context, command)
    case 'mark':
      return mark(context, command)
    case 'tick':
      return tick(context) ? forgetContracts(context) : undefined
    case 'dividend':
      return dividend(context, command)
    case 'interest':
      return interest(context, command)
    case 'deposit':
    case 'withdrawal':
      return moveCash(context, command)
    case 'split':
      return split(context, command)
    case 'open_account':
      return openAccount(context, command)
    case 'permit':
      return permit(context, command)
    case 'list_instrument':
      return listInstrument(context, command)
    case 'submit_package':
      return submitMultiLeg(context, command)
    case 'exercise':
      return exercise(context, command)
    case 'expire':
      return expire(context, command)
    case 'settle':
      return settle(context, command)
    default:
      return unreachable(command)
  }
}
