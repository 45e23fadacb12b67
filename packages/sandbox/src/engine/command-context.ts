/** The context of one command: the state, the events so far, ids, and the touched accounts. */
import { unreachable } from '@trunkline/core/domain/brand'
import { hashOf } from './lot.ts'
import type { Account, EngineState, Order, OrderBook } from './state.ts'
import type { Command, EngineEvent, FillView, OrderChange, RefusalCode, TransactionView } from './types.ts'
import { accountView, orderView } from './views.ts'

export interface Refusal {
  readonly code: RefusalCode
  readonly message: string
}

export class CommandContext {
  readonly state: EngineState
  readonly #prefix: string
  #events: EngineEvent[] = []
  readonly #touched = new Map<Account, string[]>()

  constructor(state: EngineState) {
    this.state = state
    this.#prefix = fingerprint(state.settings.seed)
  }

  /** Returns the events of the command that just ended. */
  take(): EngineEvent[] {
    for (const [account, symbols] of this.#touched) {
      if (symbols.length > 1) symbols.sort()
      this.#events.push({ type: 'account_changed', seq: this.#seq(), at: this.state.now, accountId: account.id, symbols })
    }
    this.#touched.clear()
    const events = this.#events
    this.#events = []
    return events
  }

  nextId(kind: 'order' | 'exec' | 'transaction'): { readonly id: string; readonly number: number } {
    const number = ++this.state.counters[kind]
    return { id: this.idOf(kind, number), number }
  }

  idOf(kind: 'order' | 'exec' | 'transaction', number: number): string {
    return `${idPrefix(kind)}-${this.#prefix}-${number}`
  }

  touch(account: Account, symbol: string | null): void {
    const there = this.#touched.get(account)
    if (there === undefined) this.#touched.set(account, symbol === null ? [] : [symbol])
    else if (symbol !== null && !there.includes(symbol)) there.push(symbol)
  }

  order(order: Order, change: OrderChange, fill: FillView | null = null): void {
    this.#events.push({
      type: 'order',
      seq: this.#seq(),
      at: this.state.now,
      accountId: order.account.id,
      change,
      order: orderView(order),
      fill
    })
  }

  forgotten(order: Order): void {
    this.#events.push({
      type: 'order_forgotten',
      seq: this.#seq(),
      at: this.state.now,
      accountId: order.account.id,
      order: orderView(order)
    })
  }

  refused(command: Command, accountId: string | null, refusal: Refusal, refers: Order | null = null): void {
    const view = refers === null ? null : orderView(refers)
    this.#events.push({ type: 'refused', seq: this.#seq(), at: this.state.now, command: command.type, accountId, ...refusal, refers: view })
  }

  opened(account: Account): void {
    this.#events.push({ type: 'account_opened', seq: this.#seq(), at: this.state.now, account: accountView(account) })
  }

  /** Adds a transaction to the account's history and emits its event. */
  transaction(account: Account, facts: Omit<TransactionView, 'transactionId' | 'accountId' | 'currency' | 'at'>): void {
    const { type, symbol, kind, quantity, price, amount, fees, date, settlementDate, orderId, execId, description } = facts
    // In the order of the stored shape: a restored history must have the same bytes, keys included.
    const transaction: TransactionView = {
      transactionId: this.nextId('transaction').id,
      accountId: account.id,
      type,
      symbol,
      kind,
      quantity,
      price,
      amount,
      fees,
      currency: account.currency,
      date,
      settlementDate,
      orderId,
      execId,
      description,
      at: this.state.now
    }
    account.transactions.push(transaction)
    const keep = this.state.settings.transactionsMax
    // Cuts only at a quarter above the bound, so that the copying is rare.
    if (account.transactions.length > keep + (keep >> 2)) account.transactions = account.transactions.slice(-keep)
    this.#events.push({ type: 'transaction', seq: this.#seq(), at: this.state.now, accountId: account.id, transaction })
  }

  account(id: string): Account | undefined {
    return this.state.accounts.get(id)
  }

  book(symbol: string): OrderBook | undefined {
    return this.state.books.get(symbol)
  }

  #seq(): number {
    return ++this.state.counters.event
  }
}

function idPrefix(kind: 'order' | 'exec' | 'transaction'): string {
  switch (kind) {
    case 'order':
      return 'ord'
    case 'exec':
      return 'exe'
    case 'transaction':
      return 'txn'
    default:
      return unreachable(kind)
  }
}

// Engines with different seeds get visibly different ids.
function fingerprint(text: string): string {
  return hashOf(text).toString(16).padStart(8, '0')
}
