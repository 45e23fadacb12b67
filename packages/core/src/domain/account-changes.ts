// What a new snapshot of an account changes, beyond the time at which it was taken. Pure.
import type { Balance, Position } from './account.ts'
import { ZERO } from './decimal.ts'
import type { Timestamp } from './timestamp.ts'

/** The balances that are new or differ in more than their time. */
export function changedBalances(before: readonly Balance[], after: readonly Balance[]): readonly Balance[] {
  const known = new Map(before.map(balance => [balance.currency, substance(balance)]))
  return after.filter(balance => known.get(balance.currency) !== substance(balance))
}

/** The positions that are new or differ in more than their time, and those that went, with quantity 0 and nothing else known. */
export function changedPositions(before: readonly Position[], after: readonly Position[], systemTime: Timestamp): readonly Position[] {
  const known = new Map(before.map(position => [identity(position), substance(position)]))
  const remaining = new Set(after.map(identity))
  const gone = before.filter(position => !remaining.has(identity(position)))
  return [...after.filter(position => known.get(identity(position)) !== substance(position)), ...gone.map(old => closed(old, systemTime))]
}

export function newestTime(records: readonly { readonly systemTime: Timestamp }[]): Timestamp | null {
  return records.reduce<Timestamp | null>((newest, { systemTime }) => (newest === null || systemTime > newest ? systemTime : newest), null)
}

function identity({ symbol, instrument, brokerPositionId }: Position): string {
  return JSON.stringify([symbol, instrument, brokerPositionId])
}

// Keys are sorted: the same record may have been built in another order.
function substance(record: Balance | Position): string {
  const facts = Object.entries(record).filter(([name]) => name !== 'systemTime')
  return JSON.stringify(facts.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function closed(position: Position, systemTime: Timestamp): Position {
  const unknown = { averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null }
  return { ...position, ...unknown, quantity: ZERO, systemTime }
}
