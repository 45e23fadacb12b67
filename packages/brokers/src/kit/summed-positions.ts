/** Sums several rows of one symbol in a broker's list, such as lots, to the account's position in it. Pure. */

import { canonical, compare, type Decimal, dividedBy, isZero, negated, plus, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { PositionReport } from '@trunkline/core/ports/broker'
import { field, type Wire } from './parse.ts'
import { type Items, UnreadableSibling } from './record-lists.ts'
import type { ListContext } from './runtime/read-definitions.ts'

const AVERAGE_PLACES = 8

/** What distinguishes two rows: rows with the same id, or without one, may be one row that the broker listed twice. */
export interface Row {
  readonly quantity: Decimal
  readonly id: string | null
}

/**
 * Rows of one symbol in groups that may be added up, in the order of the first of each.
 * @throws Malformed when rows of one symbol are long and short, or are not distinguished by their ids
 */
export function bySymbol<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  rowOf: (item: Item) => Row
): readonly (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  for (const [key, group] of groups) if (group.length > 1) demandAddable(key, group.map(rowOf))
  return [...groups.values()]
}

/** @throws Malformed as {@link bySymbol} */
export function demandAddable(key: string, rows: readonly Row[]): void {
  const ids = new Set(rows.flatMap(({ id }) => id ?? []))
  if (ids.size < rows.length) throw new Malformed(`positions of ${key}`, 'one, or several with ids that differ', `${rows.length} rows`)
  const signs = new Set(rows.map(({ quantity }) => compare(quantity, ZERO)))
  if (signs.has(1) && signs.has(-1)) throw new Malformed(`positions of ${key}`, 'all long or all short', 'both')
}

/** How rows are read of which several may be of one symbol. */
export interface SummedRows<Parsed, Sum> {
  /** The fields of a row's symbol and of its id. */
  readonly symbolKey: string
  readonly idKey: string
  /** @throws Malformed */
  readonly row: (row: Wire) => Parsed
  /** Of all rows of one symbol. @throws Malformed for rows that cannot be added up */
  readonly sum: (rows: readonly [Parsed, ...Parsed[]]) => Sum
}

/**
 * The sums of the symbols' rows. A row that cannot be read leaves out all of its symbol: the others are not what is held. @throws Malformed
 */
export function readSummed<Parsed, Sum>(
  readable: ListContext['readable'],
  rows: readonly Wire[],
  { symbolKey, idKey, row, sum: summing }: SummedRows<Parsed, Sum>
): Items<Sum> {
  const sums = new Map<Wire, Sum>()
  const errors = new Map<Wire, Malformed>()
  for (const group of Map.groupBy(rows, wire => field(wire, symbolKey)).values()) {
    const parsed = group.map(wire =>
      attempted(
        () => row(wire),
        error => errors.set(wire, error)
      )
    )
    const [first, ...others] = parsed.flatMap(each => each ?? [])
    const isWhole = first !== undefined && others.length === group.length - 1
    // Rows that cannot be added up: the first stands for all.
    const sum = isWhole
      ? attempted(
          () => summing([first.read, ...others.map(({ read }) => read)]),
          error => errors.set(group[0] ?? {}, error)
        )
      : null
    for (const wire of group) if (sum !== null) sums.set(wire, sum.read)
  }
  const read = (wire: Wire): Sum => {
    const error = errors.get(wire)
    if (error !== undefined) throw error
    const sum = sums.get(wire)
    if (sum === undefined) throw new UnreadableSibling(symbolKey)
    return sum
  }
  const { known, leftOut } = readable('positions', rows, read, idKey)
  return { known: [...new Set(known)], leftOut }
}

/** Null if nothing can be read. */
function attempted<T>(read: () => T, failed: (error: Malformed) => void): { readonly read: T } | null {
  try {
    return { read: read() }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    failed(error)
    return null
  }
}

/** One position for each account and symbol. @throws Malformed as {@link bySymbol} */
export function summedPositions(items: readonly PositionReport[]): readonly PositionReport[] {
  const key = ({ brokerAccountId, symbol, instrument }: PositionReport) => JSON.stringify([brokerAccountId, instrument, symbol])
  return bySymbol(items, key, ({ quantity, brokerPositionId: id }) => ({ quantity, id })).map(group =>
    group.length === 1 ? group[0] : summed(group)
  )
}

function summed(group: readonly [PositionReport, ...PositionReport[]]): PositionReport {
  const [first] = group
  const total = (of: (row: PositionReport) => Decimal | null): Decimal | null => {
    const values = group.flatMap(row => of(row) ?? [])
    return values.length === group.length ? canonical(sum(values)) : null
  }
  return {
    ...first,
    quantity: canonical(sum(group.map(({ quantity }) => quantity))),
    lastPrice: group.every(({ lastPrice }) => lastPrice === first.lastPrice) ? first.lastPrice : null,
    averagePrice: averageOf(group),
    unrealizedPl: total(({ unrealizedPl }) => unrealizedPl),
    realizedPl: total(({ realizedPl }) => realizedPl),
    dailyPl: total(({ dailyPl }) => dailyPl),
    totalPl: total(({ totalPl }) => totalPl),
    // The sum has no id of its own at the broker.
    brokerPositionId: null
  }
}

/** Null where it is unknown, or needs more decimal places: a rounded price was never paid. */
function averageOf(group: readonly PositionReport[]): Decimal | null {
  let [quantity, cost] = [ZERO, ZERO]
  for (const row of group) {
    if (row.averagePrice === null) return null
    quantity = plus(quantity, row.quantity)
    cost = plus(cost, times(row.quantity, row.averagePrice))
  }
  if (isZero(quantity)) return null
  const average = dividedBy(cost, quantity, AVERAGE_PLACES)
  return isZero(plus(cost, negated(times(average, quantity)))) ? canonical(average) : null
}
