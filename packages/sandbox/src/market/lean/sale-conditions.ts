/** The effect of a recorded tick, by its sale condition: the rules that reproduce the recorded bars. */
import type { TradeTick } from './rows.ts'

/** `all`: a bar's prices and volume; `volume`: only the volume; `none`: it repeats an earlier print. */
export type SaleEffect = 'all' | 'volume' | 'none'

// One bit each, as in the recording.
const REGULAR = 0x1
const OPENING_PRINT = 0x40
const CLOSING_PRINT = 0x80
const SOLD_LATE = 0x800
const EXTENDED_HOURS = 0x2000
const OFFICIAL_CLOSE = 0x1000000
const OFFICIAL_OPEN = 0x4000000

/** The recording's letters for the exchanges that list shares: their auctions count. */
const LETTERS: Readonly<Record<string, string>> = { ARCA: 'P', NASDAQ: 'QT', NYSE: 'N' }

/**
 * Classifies the ticks of one file in their order.
 * 1. The official opening and closing prices repeat the auctions' prints: nothing.
 * 2. Auction prints: the first one of the listing exchange (of any, if that is unknown) counts in full, the others not at all.
 * 3. Regular trades, those of the extended hours, those sold late, and ticks recorded without a condition: all.
 * 4. Every other condition (intermarket sweeps, average and derived prices, other settlement): volume only.
 * @param exchange the share's listing exchange, such as `ARCA`; null: unknown
 */
export function saleEffects(exchange: string | null): (tick: Pick<TradeTick, 'condition' | 'venue'>) => SaleEffect {
  const letters = LETTERS[exchange ?? ''] ?? null
  const seen = { opening: false, closing: false }
  return ({ condition, venue }) => {
    const has = (bits: number): boolean => (condition & bits) !== 0
    if (has(OFFICIAL_OPEN | OFFICIAL_CLOSE)) return 'none'
    if (has(OPENING_PRINT | CLOSING_PRINT)) {
      const auction = has(OPENING_PRINT) ? 'opening' : 'closing'
      const counts = !seen[auction] && (letters?.includes(venue) ?? true)
      if (counts) seen[auction] = true
      return counts ? 'all' : 'none'
    }
    return condition === 0 || has(REGULAR | EXTENDED_HOURS | SOLD_LATE) ? 'all' : 'volume'
  }
}
