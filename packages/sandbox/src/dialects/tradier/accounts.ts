/** Who the customer is and what it has: profile, balances and positions, in the fields that an adapter reads. */

import { createHash } from 'node:crypto'
import { type Decimal, isZero, minus, parseDecimal } from '@trunkline/core/domain/decimal'
import { type Account, type Customer, Problem, paramOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call } from '../frame/router.ts'
import { dateOf } from './orders/tradier-orders.ts'
import { toTradier } from './symbols.ts'
import { type Branch, Figure, figure, listed, plain } from './tree.ts'

/** Accounts of other kinds are not Tradier's to keep. */
const ACCOUNT_KINDS: ReadonlySet<string> = new Set(['margin', 'cash'])
/** Zeros behind the points of balances, as they come of the conversion. */
const PLACES = 24

export class Accounts {
  readonly #brokerage: Pick<BrokerageView, 'customers' | 'state'>

  constructor(brokerage: Pick<BrokerageView, 'customers' | 'state'>) {
    this.#brokerage = brokerage
  }

  of(login: string): readonly Account[] {
    return this.#brokerage.customers.accountsOf(login).filter(({ kind }) => ACCOUNT_KINDS.has(kind))
  }

  /** The account of a path. @throws Problem */
  requested({ request, customer }: Pick<Call, 'request' | 'customer'>): Account {
    const number = paramOf(request, 'account')
    const found = this.of(customer.id).find(account => numberOf(account) === number)
    if (found === undefined) throw new Problem('unknown_account', `Unauthorized Account: ${number.slice(0, 40)}`, { status: 401 })
    return found
  }

  /** Tradier's number of an account that it keeps. */
  numberOf(accountId: string): string | null {
    const account = this.#brokerage.customers.account(accountId)
    return account === undefined || !ACCOUNT_KINDS.has(account.kind) ? null : numberOf(account)
  }

  profile(customer: Customer): Branch {
    const accounts = this.of(customer.id).map(account => {
      return { account_number: numberOf(account), classification: 'individual', status: 'active', type: account.kind }
    })
    return { profile: { id: `id-${customer.username}`, name: customer.name, account: accounts } }
  }

  /** What all accounts have, and an element of its own for each type. */
  balances(account: Account): Branch {
    const balance = this.#brokerage.state.engine.balance(account.id)
    const { buyingPower, cash, settledCash } = balance
    const unsettled = minus(dec(cash), dec(settledCash))
    return {
      balances: {
        account_number: numberOf(account),
        account_type: account.kind,
        current_requirement: money(balance.maintenanceMargin),
        market_value: money(balance.marketValue),
        total_cash: money(cash),
        total_equity: money(balance.equity),
        ...(account.kind === 'cash'
          ? { cash: { cash_available: money(buyingPower), unsettled_funds: money(unsettled) } }
          : { margin: { stock_buying_power: money(buyingPower) } })
      }
    }
  }

  /** Cost and quantity, and nothing of the market. */
  positions(account: Account): Branch {
    const held = this.#brokerage.state.engine.positions(account.id)
    return positionsTree(
      held.map(({ symbol, costBasis, quantity, openedAt }) => ({
        cost_basis: plain(costBasis),
        date_acquired: dateOf(openedAt),
        id: idOf(`${account.id} ${symbol} ${openedAt}`),
        quantity: figure(quantity),
        symbol: toTradier(symbol)
      }))
    )
  }
}

export function positionsTree(held: readonly Branch[]): Branch {
  return listed('positions', 'position', held)
}

/** Practice accounts begin with VA at Tradier. */
export function numberOf({ number }: Account): string {
  return number.replace(/^SB/, 'VA')
}

/** The same for as long as the position is held. */
function idOf(text: string): Figure {
  return new Figure(String(createHash('sha256').update(text).digest().readUInt32BE(0)))
}

/** Nothing is written as `0`, everything else with its zeros. */
function money(value: string): Figure {
  return isZero(dec(value)) ? figure('0', 0) : figure(value, PLACES)
}

function dec(text: string): Decimal {
  return parseDecimal(text, 'an amount of the state')
}
