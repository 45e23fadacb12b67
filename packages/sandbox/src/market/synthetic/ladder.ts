/** The displayed book around a price: ten levels per side. */
import type { Micros, QuoteCommand, QuoteLevel, TradeCommand } from '../../engine/types.ts'
import { billionths } from '../lean/numbers.ts'
import { draw } from './chance.ts'
import type { Profile } from './profiles.ts'
import { PRINT_DELAY, type Slot } from './walk.ts'

export const LEVELS = 10

/** The value of one unit of a count: `factor` of the decimal place `places`, and in `billionths`. A quarter is 25 hundredths. */
export interface Worth {
  readonly billionths: bigint
  readonly factor: number
  readonly places: number
}

/** The value of a tick and of a unit. */
export interface Scale {
  readonly tick: Worth
  readonly unit: Worth
}

const PLACES = 9

/** @param decimal a plain decimal above zero */
export function worthOf(decimal: string): Worth {
  const value = billionths(decimal)
  let factor = value
  let places = PLACES
  for (; places > 0 && factor % 10n === 0n; places--) factor /= 10n
  return { billionths: value, factor: Number(factor), places }
}

/** Display parameters of a symbol: {@link Profile} has their meanings. */
export type Looks = Pick<Profile, 'symbol' | 'spread' | 'step' | 'size'>

/**
 * The book of an update, at most ten levels per side, and its print if it has one: a buyer's at the ask or a seller's at the bid, never for
 * more than is shown there.
 */
export function shown(profile: Looks, scale: Scale, slot: Slot): { readonly quote: QuoteCommand; readonly print: TradeCommand | null } {
  const { symbol } = profile
  const { price } = slot
  const spread = profile.spread + (slot.chance % 3 === 0 ? 1 : 0)
  const bought = (slot.chance & 4) === 0
  const bid = bought ? price - spread : price
  const quote: QuoteCommand = {
    type: 'quote',
    at: slot.at,
    symbol,
    bids: side(profile, scale, { best: bid, step: -profile.step, chance: slot.chance, least: bought ? 0 : slot.size }),
    asks: side(profile, scale, { best: bid + spread, step: profile.step, chance: ~slot.chance, least: bought ? slot.size : 0 })
  }
  return { quote, print: slot.size === 0 ? null : print(symbol, scale, slot.at + PRINT_DELAY, { price, size: slot.size }) }
}

/** A print as the engine's command. */
export function print(
  symbol: string,
  scale: Scale,
  at: Micros,
  { price, size }: { readonly price: number; readonly size: number }
): TradeCommand {
  return { type: 'trade', at, symbol, price: text(price, scale.tick), size: text(size, scale.unit), auction: null }
}

/** A price moved through the control API; never below one tick. */
export function shifted(price: number, shift: number): number {
  return Math.max(1, price + shift)
}

interface Side {
  readonly best: number
  readonly step: number
  readonly chance: number
  /** The minimum size shown at the best price. */
  readonly least: number
}

function side(profile: Looks, scale: Scale, { best, step, chance, least }: Side): readonly QuoteLevel[] {
  const levels: QuoteLevel[] = []
  for (let level = 0; level < LEVELS; level++) {
    const price = best + level * step
    if (price < 1) break
    const drawn = Math.floor((profile.size * (40 + (draw(chance, level) % 121)) * (10 + level)) / 1_000)
    const size = Math.max(1, level === 0 ? least : 0, drawn)
    levels.push([text(price, scale.tick), text(size, scale.unit)])
  }
  return levels
}

/** A count in units of this value, as the shortest decimal. */
// There are twenty levels per update, and dozens of updates per second: digits take a fraction of the time of big integers.
export function text(count: number, { factor, places }: Worth): string {
  const digits = String(count * factor).padStart(places + 1, '0')
  if (places === 0) return digits
  const fraction = digits.slice(-places).replace(/0+$/, '')
  const whole = digits.slice(0, -places)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
