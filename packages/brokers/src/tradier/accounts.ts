/** The profile and the balances in the core's terms. Pure; throws Malformed and nothing else. */

import { compare, type Decimal } from '@trunkline/core/domain/decimal'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { BalanceReport, BrokerAccount } from '@trunkline/core/ports/broker'
import { field, nested, object, text, type Wire } from '../kit/parse.ts'
import { TRADIER_CAPABILITIES } from './capabilities.ts'
import { amountOrNull, displayTextOf, items } from './wire.ts'

/** Tradier has no other. */
export const CURRENCY = 'USD'

/** Accounts that were closed can no longer be queried. */
export function parseProfile(answer: Wire): readonly BrokerAccount[] {
  return items(answer, 'profile', 'account')
    .filter(wire => displayTextOf(wire, 'status')?.toLowerCase() !== 'closed')
    .map(wire => ({
      brokerAccountId: text(wire, 'account_number'),
      accountNumber: text(wire, 'account_number'),
      institutionName: TRADIER_CAPABILITIES.name,
      name: displayTextOf(wire, 'classification')?.replaceAll('_', ' ') ?? null,
      accountType: displayTextOf(wire, 'type'),
      currency: CURRENCY
    }))
}

/** Buying power is in a separate element for each type of account. */
export function parseBalances(answer: Wire, account: string, asOf: Timestamp): BalanceReport {
  const wire = nested(answer, 'balances')
  const margin = part(wire, 'margin') ?? part(wire, 'pdt')
  const cash = part(wire, 'cash')
  const stock = margin === null ? null : amountOrNull(margin, 'stock_buying_power')
  const day = margin === null ? null : amountOrNull(margin, 'day_trade_buying_power')
  return {
    // The answer names its account in a field that may be missing: then it is the requested one.
    brokerAccountId: displayTextOf(wire, 'account_number') ?? account,
    currency: CURRENCY,
    cash: amountOrNull(wire, 'total_cash'),
    buyingPower: cash === null ? larger(stock, day) : amountOrNull(cash, 'cash_available'),
    initialMargin: null,
    maintenanceMargin: amountOrNull(wire, 'current_requirement'),
    regTBuyingPower: stock,
    equity: amountOrNull(wire, 'total_equity'),
    marketValue: amountOrNull(wire, 'market_value'),
    asOf
  }
}

function part(wire: Wire, key: string): Wire | null {
  const value = field(wire, key)
  return value === undefined || value === null || value === 'null' ? null : object(value, key)
}

function larger(a: Decimal | null, b: Decimal | null): Decimal | null {
  if (a === null || b === null) return a ?? b
  return compare(a, b) < 0 ? b : a
}
