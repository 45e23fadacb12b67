// What a new snapshot of an account changes, beyond the time at which it was taken. Pure.
import type { Balance, Position } from './account.ts'
import { ZERO } from './decimal.ts'
import type { Timestamp } from './timestamp.ts'

/** The balances that are new or differ in more than their time. */
export function changedBalances(before: readonly Balance[], after: readonly Balance[]): readonly Balance[] {
  const known = new Map(before.map(balance => [balance.currency, balance]))
  return after.filter(balance => !isSame(known.get(balance.currency), balance))
}

/** The positions that are new or differ in more than their time, and those that went, with quantity 0 and nothing else known. */
export function changedPositions(before: readonly Position[], after: readonly Position[], systemTime: Timestamp): readonly Position[] {
  const known = new Map(before.map(position => [identity(position), position]))
  const changed: Position[] = []
  for (const position of after) {
    const key = identity(position)
    if (!isSame(known.get(key), position)) changed.push(position)
    known.delete(key)
  }
  return [...changed, ...Array.from(known.values(), old => closed(old, systemTime))]
}

/** The stored records that a list lacks, by the key of each. */
export function unlisted<Part, Stored extends Part>(
  stored: readonly Stored[],
  listed: readonly Part[],
  keyOf: (record: Part) => string
): readonly Stored[] {
  const keys = new Set(listed.map(keyOf))
  return stored.filter(record => !keys.has(keyOf(record)))
}

/** The key of positions in a list: it has one of each symbol. */
export function symbolOf({ symbol }: { readonly symbol: string }): string {
  return symbol
}

export function newestTime(records: readonly { readonly systemTime: Timestamp }[]): Timestamp | null {
  return records.reduce<Timestamp | null>((newest, { systemTime }) => (newest === null || systemTime > newest ? systemTime : newest), null)
}

function identity({ symbol, instrument, brokerPositionId }: Position): string {
  return brokerPositionId === null ? `${instrument} ${symbol}` : JSON.stringify([symbol, instrument, brokerPositionId])
}

type Facts = Readonly<Record<string, unknown>>

/** Whether two records differ in their time at most. Their values are texts and nulls; a value that is absent differs from any. */
function isSame(before: Balance | Position | undefined, after: Balance | Position): boolean {
  if (before === undefined) return false
  const [known, now]: readonly [Facts, Facts] = [{ ...before }, { ...after }]
  for (const name in now) if (name !== 'systemTime' && now[name] !== known[name]) return false
  for (const name in known) if (!(name in now)) return false
  return true
}

function closed(position: Position, systemTime: Timestamp): Position {
  const unknown = { averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null }
  return { ...position, ...unknown, quantity: ZERO, systemTime }
}
