/** Every recorded trade of a day with its sale condition, and its effect on the recorded bars. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import { nanosOfMs, type Trade, type TradeEffect } from '@trunkline/core/domain/market/records'
import type { Catalog } from '../../src/market/lean/catalog.ts'
import { zippedLines } from '../../src/market/lean/zip.ts'

export interface Tick {
  readonly atMs: number
  readonly price: Decimal
  readonly size: Decimal
  readonly venue: string
  readonly condition: number
  readonly suspicious: boolean
}

// Sale conditions as in the recording, one bit each.
const REGULAR = 0x1
const OPENING_PRINT = 0x40
const CLOSING_PRINT = 0x80
const SOLD_LATE = 0x800
const EXTENDED_HOURS = 0x2000
const OFFICIAL_CLOSE = 0x1000000
const OFFICIAL_OPEN = 0x4000000

/** SPY is listed on Arca, so the auctions that count are Arca's. */
const LISTED_ON = 'P'

export async function recordedTicks(catalog: Catalog, symbol: string, date: string): Promise<readonly Tick[]> {
  const found = catalog.find({ symbol, resolution: 'tick', data: 'trade', date })
  if (found === null) throw new TypeError(`no ticks of ${symbol} are recorded on ${date}`)
  const midnight = found.rows.midnight(date) / 1_000
  const ticks: Tick[] = []
  for await (const { lines } of zippedLines(found.rows.file))
    for (const line of lines) {
      const [time = '', price = '', size = '', venue = '', condition = '', suspicious = ''] = line.trim().split(',')
      ticks.push({
        atMs: midnight + Number(time),
        price: dollars(price),
        size: size as Decimal,
        venue,
        condition: Number.parseInt(condition, 16),
        suspicious: suspicious === '1'
      })
    }
  return ticks
}

export function tradeOf({ atMs, price, size, venue }: Tick, effect: TradeEffect): Trade {
  return { at: nanosOfMs(atMs), price, size, venue, effect }
}

/** The auctions of a day by their first print of the listing exchange: the only print of each that the recorded bars have. */
export interface Auctions {
  readonly opening: Tick
  readonly closing: Tick
}

export function auctionsOf(ticks: readonly Tick[]): Auctions {
  const first = (bit: number): Tick | undefined => ticks.find(({ condition, venue }) => (condition & bit) !== 0 && venue === LISTED_ON)
  const [opening, closing] = [first(OPENING_PRINT), first(CLOSING_PRINT)]
  if (opening === undefined || closing === undefined) throw new TypeError('the day has no auctions')
  return { opening, closing }
}

/**
 * The effect of a trade on the recorded bars.
 *
 * 1. Suspicious trades, and the official opening and closing prices, which repeat the auctions' prints: none.
 * 2. Auction prints: the first one of the listing exchange counts in full, the others not at all.
 * 3. Regular trades, those of the extended hours, and those sold late: all.
 * 4. Every other condition (intermarket sweeps, average prices, derived prices, other settlement): volume only.
 */
export function effectOf(tick: Tick, { opening, closing }: Auctions): TradeEffect {
  const has = (bits: number): boolean => (tick.condition & bits) !== 0
  if (tick.suspicious || has(OFFICIAL_OPEN | OFFICIAL_CLOSE)) return 'none'
  if (has(OPENING_PRINT | CLOSING_PRINT)) return tick === opening || tick === closing ? 'all' : 'none'
  return has(REGULAR | EXTENDED_HOURS | SOLD_LATE) ? 'all' : 'volume'
}

function dollars(tenThousandths: string): Decimal {
  const digits = tenThousandths.padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}` as Decimal
}
