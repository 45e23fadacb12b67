/**
 * Positions as they were after each single fill: events are published after the whole command, when the state is further along.
 * Kept only for logins with streams.
 */

import { type Decimal, negated, parseDecimal, plus, ZERO } from '@trunkline/core/domain/decimal'
import type { AccountChangedEvent, OrderEvent } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'

export class Holdings {
  readonly #state: Pick<BrokerageView['state'], 'engine'>
  readonly #accounts = new Map<string, Map<string, Decimal>>()
  /** The number of the last event that was settled. */
  #settled = 0

  constructor(state: Pick<BrokerageView['state'], 'engine'>) {
    this.#state = state
  }

  /** From now on; the state must be at rest. */
  begin(accounts: readonly string[]): void {
    for (const account of accounts) {
      const positions = this.#state.engine.positions(account)
      const held = positions.map(({ symbol, quantity }) => [symbol, parseDecimal(quantity, 'quantity')] as const)
      if (!this.#accounts.has(account)) this.#accounts.set(account, new Map(held))
    }
  }

  end(accounts: readonly string[]): void {
    for (const account of accounts) this.#accounts.delete(account)
  }

  clear(): void {
    this.#accounts.clear()
    this.#settled = 0
  }

  /** Signed; the position after the fill. Undefined for a login without streams. */
  after({ order: { accountId, symbol, side }, fill, seq }: OrderEvent): Decimal | undefined {
    const held = this.#accounts.get(accountId)
    if (held === undefined || symbol === null || fill === null) return undefined
    // A hidden order is published late, when its fills are already in the position.
    if (seq < this.#settled) return held.get(symbol) ?? ZERO
    const quantity = parseDecimal(fill.quantity, 'quantity')
    const sum = plus(held.get(symbol) ?? ZERO, side.startsWith('BUY') ? quantity : negated(quantity))
    held.set(symbol, sum)
    return sum
  }

  /** A command is over: these positions are as the state has them. */
  settle({ accountId, symbols, seq }: AccountChangedEvent): void {
    this.#settled = seq
    const held = this.#accounts.get(accountId)
    if (held === undefined) return
    for (const symbol of symbols) {
      const { quantity } = this.#state.engine.position(accountId, symbol) ?? { quantity: '0' }
      held.set(symbol, parseDecimal(quantity, 'quantity'))
    }
  }
}
