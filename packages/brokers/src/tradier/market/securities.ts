/** Securities that a search found. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import type { FoundSymbol } from '@trunkline/core/ports/market'
import { text, type Wire } from '../../kit/parse.ts'
import { fromTradier } from '../symbols.ts'
import { displayTextOf, items, textOf } from '../wire.ts'

/** What has quotes and bars here; funds and contracts of options are left out. */
const SECURITY_TYPES: ReadonlySet<string | null> = new Set(['stock', 'etf', 'index'])

/** @throws Malformed */
export function parseSecurities(answer: Wire): readonly FoundSymbol[] {
  return items(answer, 'securities', 'security').flatMap(wire => {
    const symbol = SECURITY_TYPES.has(textOf(wire, 'type')) ? ourSymbol(text(wire, 'symbol', 32)) : null
    return symbol === null
      ? []
      : [{ symbol, instrument: 'STK', name: displayTextOf(wire, 'description'), exchange: textOf(wire, 'exchange') }]
  })
}

/** Null for what cannot be written here: warrants and units have other symbols. */
function ourSymbol(written: string): string | null {
  try {
    return formatSymbol(parseSymbol(fromTradier(written), 'STK'))
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}
