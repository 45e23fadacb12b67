/**
 * Positions as they were after each single fill: whoever is told of a fill is told of all the command did, by when the books are further along.
 * Kept for those only who listen.
 */

import { type Decimal, negated, parseDecimal, plus, ZERO } from '@trunkline/core/domain/decimal'
import type { BrokerageState } from '../../brokerage/state.ts'
import type { AccountChangedEvent, OrderEvent } from '../../engine/types.ts'

export class Holdings {
  readonly #state: Pick<BrokerageState, 'engine'>
  readonly #accounts = new Map<string, Map<string, Decimal>>()
  /** The number of the last event that was settled. */
  #settled = 0

  constructor(state: Pick<BrokerageState, 'engine'>) {
    this.#state = state
  }

  /** From now on; the books must be at rest. */
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

  /** Signed; what the fill of a share, a coin or a contract led to. Undefined where nobody listens. */
  after({ order: { accountId, symbol, side }, fill, seq }: OrderEvent): Decimal | undefined {
    const held = this.#accounts.get(accountId)
    if (held === undefined || symbol === null || fill === null) return undefined
    // An order that was hidden is told of late, when its fills are in the position already.
    if (seq < this.#settled) return held.get(symbol) ?? ZERO
    const quantity = parseDecimal(fill.quantity, 'quantity')
    const sum = plus(held.get(symbol) ?? ZERO, side.startsWith('BUY') ? quantity : negated(quantity))
    held.set(symbol, sum)
    return sum
  }

  /** A command is over: these positions are as the books have them. */
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
