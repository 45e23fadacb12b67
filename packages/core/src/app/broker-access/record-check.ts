// Checks whether a broker's records can be true, whichever adapter parsed them. Pure.
import { type ExecutionFault, faultOf, mayCost } from '../../domain/executions.ts'
import { isCurrency, isSymbol } from '../../domain/record-forms.ts'
import {
  type BalanceReport,
  type BrokerAccount,
  BrokerFault,
  type Listed,
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

/** The same for a record that may be wrong in only one way. Without an account it is of the requested one. */
export function faultOfRecord<T extends { readonly brokerAccountId: string | null }>(
  record: T,
  brokerAccountId: string,
  isWrong: (record: T) => boolean
): RecordFault | null {
  if (record.brokerAccountId !== null && record.brokerAccountId !== brokerAccountId) return 'foreign'
  return isWrong(record) ? 'malformed' : null
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

/** Leaves out accounts with an invalid currency. @throws BrokerFault if two accounts have the same key, or none could be read. */
export function demandAccounts(accounts: Listed<BrokerAccount>): Listed<BrokerAccount> {
  const isTwice = new Set(accounts.items.map(({ brokerAccountId }) => brokerAccountId)).size < accounts.items.length
  if (isTwice) throw new BrokerFault('malformed', 'the broker answered with the same account twice')
  const items = accounts.items.filter(({ currency }) => currency === null || isCurrency(currency))
  const wrong = accounts.items.filter(account => !items.includes(account)).map(({ brokerAccountId }) => brokerAccountId)
  const leftOut = [...(accounts.leftOut ?? []), ...wrong]
  if (leftOut.length === 0) return { items }
  if (items.length === 0) throw new BrokerFault('malformed', 'the broker answered with no account that can be read')
  return { items, leftOut }
}
