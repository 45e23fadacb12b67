/** The options of one underlying: their existence, their values, and the quotes for these. */
import { midnight } from '@trunkline/core/domain/calendar/index'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../engine/types.ts'
import { type CalendarChoice, NEW_YORK, newYorkDate } from '../hours.ts'
import { optionInstrument } from '../instruments.ts'
import { expirationsOn, isExpiration, lastTradeOf } from '../options/expirations.ts'
import { intrinsic, type Terms, worth } from '../options/greeks.ts'
import { type OptionName, optionSymbol, STRIKE_UNITS, strikeText } from '../options/occ.ts'
import type { Instrument } from '../types.ts'
import { keyOf } from './chance.ts'
import { text, worthOf } from './ladder.ts'
import { type Smile, Surface, volatilityAt } from './surface.ts'
import type { SyntheticSymbol } from './symbol.ts'
import { FINE_DAYS, RATE, STRIKES_A_SIDE, type Underlying } from './underlyings.ts'

const MINUTE: Micros = 60_000_000
const YEAR: Micros = 365 * 86_400_000_000
const DAY: Micros = 86_400_000_000
const CENTS = 100
const CENT = worthOf('0.01')
/** Below this many cents, quotes are in cents; above (unless in cents throughout) in steps of five. */
const NICKELS_FROM = 300
const NICKEL = 5

/** The values that all contracts of one expiration share at an instant. */
export interface Slice {
  /** The start of the minute: within a minute, only the underlying moves an option. */
  readonly minute: Micros
  /** Of the underlying, in money. */
  readonly spot: number
  readonly years: number
  readonly forward: number
  readonly smile: Smile
}

/** Best prices in cents; no bid if the contract is almost worthless. */
export interface Touch {
  readonly bid: number | null
  readonly ask: number
}

export class OptionSource {
  readonly facts: Underlying
  /** The key for all draws about these options. */
  readonly key: number
  readonly #base: SyntheticSymbol
  readonly #surface: Surface
  readonly #choice: CalendarChoice

  /** @param base the symbol whose walk the underlying's price follows */
  constructor(seed: string, facts: Underlying, { base, choice }: { readonly base: SyntheticSymbol; readonly choice: CalendarChoice }) {
    this.facts = facts
    this.key = keyOf(`${seed}/${facts.symbol} options`)
    this.#base = base
    this.#surface = new Surface(this.key, facts.surface)
    this.#choice = choice
  }

  /** The underlying's price in cents. */
  centsAt(at: Micros): number {
    return this.#base.priceAt(at) * this.facts.ratio
  }

  /** The same at the start of a minute and of an hour; cheaper to compute. */
  centsAtMinute(at: Micros): number {
    return this.#base.priceAtMinute(at) * this.facts.ratio
  }

  centsAtHour(at: Micros): number {
    return this.#base.priceAtHour(at) * this.facts.ratio
  }

  /** The underlying's price, in money. */
  textAt(at: Micros): Decimal {
    return text(this.centsAt(at), CENT) as Decimal
  }

  /** The same at the start of a minute; cheaper to compute. */
  textAtMinute(at: Micros): Decimal {
    return text(this.centsAtMinute(at), CENT) as Decimal
  }

  /** Whether prices are withheld: the underlying is halted, or the market paused. */
  heldBack(at: Micros): boolean {
    return this.#base.heldBack(at)
  }

  /** @param cents of the underlying */
  slice(lastTradeAt: Micros, at: Micros, cents: number): Slice {
    const minute = at - (at % MINUTE)
    const years = Math.max(0, (lastTradeAt - minute) / YEAR)
    const spot = cents / CENTS
    const forward = spot * Math.exp((RATE - this.facts.dividend) * years)
    return { minute, spot, years, forward, smile: this.#surface.smile(minute, Math.max(years, Number.EPSILON)) }
  }

  terms({ spot, years }: Slice, right: 'call' | 'put', strike: number): Terms {
    return { right, spot, strike, years, rate: RATE, dividend: this.facts.dividend }
  }

  volatility({ smile, forward }: Slice, strike: number): number {
    return volatilityAt(smile, Math.log(strike / forward))
  }

  /** In money. An option that can be exercised at any time is never worth less than its exercise value. */
  value(slice: Slice, right: 'call' | 'put', strike: number): number {
    const terms = this.terms(slice, right, strike)
    const value = worth(terms, this.volatility(slice, strike))
    return this.facts.style === 'american' ? Math.max(value, intrinsic(terms)) : value
  }

  /** Bid and ask around a value, on the grid of quotes. Both rise with the value. @param value in money */
  touch(value: number): Touch {
    const { halfSpread, penny } = this.facts
    const cents = value * CENTS
    const half = halfSpread.cents + halfSpread.share * cents
    const bid = onGrid(Math.floor, cents - half, penny)
    const ask = onGrid(Math.ceil, cents + half, penny)
    return { bid: bid > 0 ? bid : null, ask: Math.max(1, ask) }
  }

  /** The distance between price levels at a price, in cents. */
  step(cents: number): number {
    return this.facts.penny || cents < NICKELS_FROM ? 1 : NICKEL
  }

  /** The expirations that still trade, `YYYY-MM-DD`, ascending. */
  expirations(at: Micros): readonly string[] {
    return expirationsOn(newYorkDate(at)).filter(expiration => (lastTradeOf(expiration) ?? 0) > at)
  }

  /** The chain's contracts: strikes around the day's first price, the same all day unless the control API moves the underlying. */
  chain(expiration: string, at: Micros): readonly Instrument[] {
    if (!this.expirations(at).includes(expiration)) return []
    const day = midnight(newYorkDate(at), NEW_YORK) * 1_000
    const moved = (this.#base.shiftAt(at) - this.#base.shiftAt(day)) * this.facts.ratio
    const first = ((this.centsAtMinute(day) + moved) * STRIKE_UNITS) / CENTS
    const { step: fine, coarseStep, strikeMin, strikeMax, symbol: underlying } = this.facts
    const step = (lastTradeOf(expiration) ?? at) - at > FINE_DAYS * DAY ? coarseStep : fine
    const middle = Math.round(first / step) * step
    const found: Instrument[] = []
    for (let strike = middle - STRIKES_A_SIDE * step; strike <= middle + STRIKES_A_SIDE * step; strike += step) {
      if (strike < strikeMin || strike > strikeMax) continue
      for (const right of ['call', 'put'] as const) {
        const instrument = this.instrument({ underlying, expiration, right, strike })
        if (instrument !== null) found.push(instrument)
      }
    }
    return found
  }

  /** A past, present or future contract; null if the name fits none. */
  instrument(name: OptionName): Instrument | null {
    const { step, strikeMin, strikeMax, style, settlement, symbol: underlying } = this.facts
    const { expiration, right, strike } = name
    const lastTradeAt = lastTradeOf(expiration)
    const onStep = strike % step === 0 && strike >= strikeMin && strike <= strikeMax
    if (name.underlying !== underlying || lastTradeAt === null || !onStep || !isExpiration(expiration)) return null
    const option = { underlying, right, strike: strikeText(strike), expiration, lastTradeAt, style, settlement }
    return optionInstrument(optionSymbol(name), option, this.#choice)
  }
}

function onGrid(round: (value: number) => number, cents: number, penny: boolean): number {
  return penny || cents < NICKELS_FROM ? round(cents) : round(cents / NICKEL) * NICKEL
}
