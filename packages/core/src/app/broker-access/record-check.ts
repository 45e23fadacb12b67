// Checks whether a broker's records can be true, whichever adapter parsed them. Pure.
import { type ExecutionFault, faultOf, mayCost } from '../../domain/executions.ts'
import { isCurrency, isSymbol } from '../../domain/record-forms.ts'
import {
  type BalanceReport,
  type BrokerAccount,
  BrokerFault,
  type OrderReport,
  type PositionReport,
  type TransactionReport
} from '../../ports/broker.ts'

/** Why a record is rejected. */
export type RecordFault = 'foreign' | 'malformed' | 'repeated' | ExecutionFault

/** Why an order is not the requested one, or cannot be true; null if nothing is wrong. */
export function faultOfOrder(report: OrderReport, brokerAccountId: string): RecordFault | null {
  if (report.brokerAccountId !== brokerAccountId) return 'foreign'
  const { symbol, legs, fills, filledTotal, instrument } = report
  const symbols = [...(symbol === null ? [] : [symbol]), ...(legs ?? []).map(leg => leg.symbol)]
  if (!symbols.every(isSymbol)) return 'malformed'
  const isTotalPossible =
    filledTotal === null ||
    (!filledTotal.quantity.startsWith('-') && (filledTotal.averagePrice === null || mayCost(filledTotal.averagePrice, instrument)))
  if (!isTotalPossible) return 'impossible_fill'
  for (const leg of legs ?? []) {
    const fault = faultOf(leg.fills, 'OPT')
    if (fault !== null) return fault
  }
  return faultOf(fills ?? [], instrument)
}

export function wrongBalance({ currency }: BalanceReport): boolean {
  return !isCurrency(currency)
}

export function wrongPosition({ symbol }: PositionReport): boolean {
  return !isSymbol(symbol)
}

export function wrongTransaction({ symbol, currency }: TransactionReport): boolean {
  return (symbol !== null && !isSymbol(symbol)) || (currency !== null && !isCurrency(currency))
}

/** @throws BrokerFault if two accounts have the same key, or an account has an invalid currency. */
export function demandAccounts(accounts: readonly BrokerAccount[]): readonly BrokerAccount[] {
  const isTwice = new Set(accounts.map(({ brokerAccountId }) => brokerAccountId)).size < accounts.length
  if (isTwice) throw new BrokerFault('malformed', 'the broker answered with the same account twice')
  if (!accounts.every(({ currency }) => currency === null || isCurrency(currency)))
    throw new BrokerFault('malformed', 'the broker answered with an account in an invalid currency')
  return accounts
}
