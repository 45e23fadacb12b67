import type { FoundSymbol } from '../../ports/market.ts'

/** Each symbol once: an exact match, then symbols that begin with the text, then the others in the broker's order. */
export function ranked(found: readonly FoundSymbol[], typed: string): readonly FoundSymbol[] {
  const wanted = typed.toUpperCase()
  const rankOf = ({ symbol }: FoundSymbol): number => (symbol === wanted ? 0 : symbol.startsWith(wanted) ? 1 : 2)
  const each = new Map(found.map(entry => [entry.symbol, entry]))
  return [...each.values()].toSorted((a, b) => rankOf(a) - rankOf(b))
}
