/** What a recorded tick counts for, by its sale condition: the rules that give the recorded bars back. */
import type { TradeTick } from './rows.ts'

/** `all`: a bar's prices and volume; `volume`: that alone; `none`: it repeats what has been printed already. */
export type SaleEffect = 'all' | 'volume' | 'none'

// One bit each, as the recording writes them.
const REGULAR = 0x1
const OPENING_PRINT = 0x40
const CLOSING_PRINT = 0x80
const SOLD_LATE = 0x800
const EXTENDED_HOURS = 0x2000
const OFFICIAL_CLOSE = 0x1000000
const OFFICIAL_OPEN = 0x4000000

/** The recording's letters for the exchange a share is listed on: whose auctions count. */
const LETTERS: Readonly<Record<string, string>> = { ARCA: 'P', NASDAQ: 'QT', NYSE: 'N' }

/**
 * Reads the ticks of one file in their order.
 * 1. The official opening and closing prices repeat what the auctions printed: nothing.
 * 2. Auction prints: all of the first one of the listing exchange (of any, where that is not known), nothing of the others.
 * 3. Regular trades, those of the extended hours, those sold late, and ticks recorded without a condition: all.
 * 4. Every other condition (intermarket sweeps, average and derived prices, other settlement): volume only.
 * @param exchange where the share is listed, such as `ARCA`; null: not known
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
