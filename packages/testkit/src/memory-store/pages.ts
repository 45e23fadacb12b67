import type { Page, PageRequest } from '@trunkline/core/ports/store'

/** One page of the rows, which may come in any order. `keyOf`: the sort column's value, then a unique one. */
export function pageOf<T>(rows: readonly T[], { limit, edge, descending }: PageRequest, keyOf: (row: T) => readonly string[]): Page<T> {
  const sorted = rows.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)))
  if (descending) sorted.reverse()
  if (edge === null) return cut(sorted, 0, limit, keyOf)
  if (edge.key.length !== 2) throw new TypeError('a page key must have two values')
  const side = (row: T) => (descending ? -1 : 1) * compareKeys(keyOf(row), edge.key)
  if (edge.side === 'after') {
    const first = sorted.findIndex(row => side(row) > 0)
    return cut(sorted, first < 0 ? sorted.length : first, limit, keyOf)
  }
  const end = sorted.findLastIndex(row => side(row) < 0) + 1
  return cut(sorted, Math.max(0, end - limit), Math.min(limit, end), keyOf)
}

function cut<T>(sorted: readonly T[], start: number, count: number, keyOf: (row: T) => readonly string[]): Page<T> {
  const rows = sorted.slice(start, start + count)
  const [first, last] = [rows[0], rows.at(-1)]
  return {
    rows,
    prev: first !== undefined && start > 0 ? keyOf(first) : null,
    next: last !== undefined && start + count < sorted.length ? keyOf(last) : null
  }
}

export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? ''
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}
