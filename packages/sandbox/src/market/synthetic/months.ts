/** Synthetic futures: the months of a root are the prices of one walk, each with its own cost of carry. */
import type { Micros } from '../../engine/types.ts'
import { daysOf } from '../day-starts.ts'
import { futureSymbol, hasMonth, lastTradeOf, monthsAt, monthText, parseFutureSymbol } from '../futures/months.ts'
import { ROOT_FACTS, ROOTS, type Root } from '../futures/roots.ts'
import { type CalendarChoice, NEW_YORK } from '../hours.ts'
import { futureInstrument } from '../instruments.ts'
import type { Instrument } from '../types.ts'
import { PROFILES, type Profile } from './profiles.ts'
import type { Derivation, SyntheticSymbol } from './symbol.ts'
import { RATE } from './underlyings.ts'

const DAY: Micros = 86_400_000_000

interface Trading {
  /** The walk: that of a listed symbol, whose control moves the months follow, or a separate one. */
  readonly walk: Profile | string
  readonly walkTick: string
  /** Ticks of the future per tick of the walk. */
  readonly ratio: number
  /** Per year, continuously compounded: the premium of a later month. Below zero, later months cost less. */
  readonly carry: number
  readonly spread: number
  readonly step: number
  readonly size: number
  /** Contracts traded in 24 hours in the month that ends next. */
  readonly volume: number
  /** Days between a month and the next. */
  readonly period: number
}

const OWN = { spread: 1, step: 1, unit: '1', pace: 0.5 }

const TRADING: { readonly [Name in Root]: Trading } = {
  // Ten times the fund, in quarters of a point; the index pays 1.2 % of dividends per year.
  ES: { walk: 'SPY', walkTick: '0.01', ratio: 0.4, carry: RATE - 0.012, spread: 1, step: 1, size: 60, volume: 1_400_000, period: 91 },
  // 41 times the fund.
  NQ: { walk: 'QQQ', walkTick: '0.01', ratio: 1.64, carry: RATE - 0.006, spread: 2, step: 1, size: 12, volume: 600_000, period: 91 },
  CL: {
    walk: { ...OWN, symbol: 'CL', price: '62.00', volatility: 220, size: 25, volume: 0 },
    walkTick: '0.01',
    ratio: 1,
    // Scarce now, so later months are cheaper.
    carry: -0.03,
    spread: 1,
    step: 1,
    size: 25,
    volume: 500_000,
    period: 31
  },
  GC: {
    walk: { ...OWN, symbol: 'GC', price: '4100.0', volatility: 110, size: 20, volume: 0 },
    walkTick: '0.1',
    ratio: 1,
    carry: RATE,
    spread: 1,
    step: 1,
    size: 20,
    volume: 250_000,
    period: 31
  }
}

/** The minimum volume of a month per day: four prints a minute, with a margin for a quiet day. */
const VOLUME_MIN = 10_000
/** The volume of a month relative to the one before it. */
const FURTHER = 0.25

export interface FutureMonth {
  readonly root: Root
  readonly instrument: Instrument
  readonly lastTradeAt: Micros
}

/** A past, present or future month of a root, whether listed yet or not; null for any other text. */
export function futureMonth(symbol: string, choice: CalendarChoice): FutureMonth | null {
  const name = parseFutureSymbol(symbol)
  const root = ROOTS.find(known => known === name?.root)
  if (name === null || root === undefined || !hasMonth(root, name.month)) return null
  const { name: rootName, exchange, tick, multiplier, lastTrade, initialMargin, maintenanceMargin } = ROOT_FACTS[root]
  const lastTradeAt = lastTradeOf(lastTrade, name.month)
  const future = { ...name, lastTradeAt, initialMargin, maintenanceMargin }
  const instrument = futureInstrument({ symbol, name: `${rootName} ${monthText(name.month)}`, exchange, tick, multiplier, future }, choice)
  return { root, instrument, lastTradeAt }
}

/** The months listed at an instant, by root and month. */
export function futureMonths(at: Micros, choice: CalendarChoice): readonly FutureMonth[] {
  return ROOTS.flatMap(root => monthsAt(root, at).flatMap(month => futureMonth(futureSymbol({ root, month }), choice) ?? []))
}

/**
 * A month's prices from those of the walk: multiplied by the cost of carry until the month's last day, at a root's rate per year. The
 * cost is that of the whole day (New York), so that a bar of the walk is a bar of the month.
 * @param symbolOf the listed symbol of a walk
 */
export function derivationOf(
  { root, instrument, lastTradeAt }: FutureMonth,
  symbolOf: (symbol: string) => SyntheticSymbol | null
): { readonly profile: Profile; readonly derived: Derivation } {
  const { walk, walkTick, ratio, carry, spread, step, size, volume, period } = TRADING[root]
  const profile = typeof walk === 'string' ? PROFILES.find(({ symbol }) => symbol === walk) : walk
  if (profile === undefined) throw new Error(`no profile of ${String(walk)} for the futures on it`)
  const dayAt = daysOf(NEW_YORK)
  const lastDay = dayAt(lastTradeAt).start
  const daysLeft = (day: Micros): number => Math.max(0, Math.round((lastDay - day) / DAY))
  const further = (day: Micros): number => Math.max(0, Math.ceil(daysLeft(day) / period) - 1)
  let known = { day: -1, factor: 1 }
  const factorAt = (at: Micros): number => {
    const day = dayAt(at).start
    if (known.day !== day) known = { day, factor: ratio * Math.exp((carry * daysLeft(day)) / 365) }
    return known.factor
  }
  return {
    profile: { ...profile, unit: '1', volume, pace: OWN.pace },
    derived: {
      looks: { symbol: instrument.symbol, spread, step, size },
      walkTick,
      base: typeof walk === 'string' ? symbolOf(walk) : null,
      liquidity: day => Math.max(VOLUME_MIN / volume, FURTHER ** further(day)),
      priceOf: (price, at) => Math.max(1, Math.round(price * factorAt(at)))
    }
  }
}

/** Whether the month is listed at an instant. */
export function isListed({ root, instrument, lastTradeAt }: FutureMonth, at: Micros): boolean {
  return lastTradeAt > at && instrument.future !== undefined && monthsAt(root, at).includes(instrument.future.month)
}
