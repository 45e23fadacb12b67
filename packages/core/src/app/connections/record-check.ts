// What of a broker's records can be true at all, whichever adapter read them. Pure.
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

/** Why a record is not taken. */
export type RecordFault = 'foreign' | 'malformed' | 'repeated' | ExecutionFault

/** Why an order is not what was asked about, or cannot be; null when nothing is wrong. */
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

/** @throws BrokerFault for accounts of which two have the same key, or one is kept in what is no currency. */
export function demandAccounts(accounts: readonly BrokerAccount[]): readonly BrokerAccount[] {
  const isTwice = new Set(accounts.map(({ brokerAccountId }) => brokerAccountId)).size < accounts.length
  if (isTwice) throw new BrokerFault('malformed', 'the broker answered with the same account twice')
  if (!accounts.every(({ currency }) => currency === null || isCurrency(currency)))
    throw new BrokerFault('malformed', 'the broker answered with an account in a currency that cannot be one')
  return accounts
}
