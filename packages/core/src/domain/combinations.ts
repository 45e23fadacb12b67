// Which orders a broker accepts. Validation, the API and the contract suite all use this table.
import type { Decimal } from './decimal.ts'
import {
  INSTRUMENTS,
  type Instrument,
  ORDER_TYPES,
  type OrderType,
  type ReplaceField,
  SIZES,
  type Side,
  type Size,
  TIMES_IN_FORCE,
  type TimeInForce,
  type TradingHours
} from './vocabulary.ts'

/** What a broker accepts: lists by instrument, and the combinations excluded from them. */
export interface OrderOffer {
  readonly name: string
  readonly instruments: readonly Instrument[]
  readonly orderTypes: { readonly [instrument in Instrument]?: readonly OrderType[] }
  readonly timesInForce: { readonly [instrument in Instrument]?: readonly TimeInForce[] }
  readonly sides: { readonly [instrument in Instrument]?: readonly Side[] }
  /**
   * The fields of an open order that can be replaced, by instrument; other changes are refused before the broker is called. An absent
   * instrument has none.
   */
  readonly replaceFields: { readonly [instrument in Instrument]?: readonly ReplaceField[] }
  readonly notional: boolean
  readonly fractional: boolean
  /** Combinations that the lists allow and the broker does not accept. */
  readonly exclusions: readonly Exclusion[]
  /** Times in force accepted only during their session: an order sent at another time is rejected. */
  readonly onlyInSession: readonly TimeInForce[]
  /** Whether an extended-hours order also trades in the regular session, or only in the extended session in which it is sent. */
  readonly extendedHours: 'with_regular' | 'alone'
}

/** Matches orders that meet all the conditions given; an absent one matches all. */
export interface Exclusion {
  readonly instruments?: readonly Instrument[]
  readonly types?: readonly OrderType[]
  readonly tifs?: readonly TimeInForce[]
  readonly sizes?: readonly Size[]
}

export interface Combination {
  readonly instrument: Instrument
  readonly type: OrderType
  readonly tif: TimeInForce
  readonly hours: TradingHours
  readonly placed: 'any_time' | 'in_session'
  readonly sides: readonly Side[]
  readonly sizes: readonly Size[]
}

/** The parts of an order that decide whether it is one of the combinations. */
export interface OrderForm {
  readonly instrument: Instrument
  readonly type: OrderType
  readonly tif: TimeInForce
  readonly side: Side
  readonly size: Size
}

/** The unsupported part, the requested value, and the values supported together with the parts before it. */
export interface Unsupported {
  readonly part: keyof OrderForm
  readonly requested: string
  readonly offered: readonly string[]
}

interface Combinations {
  readonly all: readonly Combination[]
  readonly byForm: ReadonlyMap<string, Combination>
}

// Computed once per broker, because every order is checked against it.
const made = new WeakMap<OrderOffer, Combinations>()

/** Every combination, in the order of the enums. */
export function combinationsOf(offer: OrderOffer): readonly Combination[] {
  return knownOf(offer).all
}

function knownOf(offer: OrderOffer): Combinations {
  const known = made.get(offer)
  if (known !== undefined) return known
  const all = combine(offer)
  const combinations = { all, byForm: new Map(all.map(combination => [formKey(combination), combination])) }
  made.set(offer, combinations)
  return combinations
}

function formKey({ instrument, type, tif }: Pick<Combination, 'instrument' | 'type' | 'tif'>): string {
  return `${instrument} ${type} ${tif}`
}

function combine(offer: OrderOffer): readonly Combination[] {
  const all: Combination[] = []
  for (const instrument of INSTRUMENTS.filter(known => offer.instruments.includes(known)))
    for (const type of ORDER_TYPES.filter(known => offer.orderTypes[instrument]?.includes(known)))
      for (const tif of TIMES_IN_FORCE.filter(known => offer.timesInForce[instrument]?.includes(known))) {
        const sizes = sizesOf(offer, instrument, type, tif)
        if (sizes.length > 0)
          all.push({ instrument, type, tif, ...whenOf(offer, instrument, tif), sides: offer.sides[instrument] ?? [], sizes })
      }
  return all
}

/**
 * The part of an order that makes it unsupported; null if it is supported. Parts are checked in the order instrument, type, time in force,
 * side, size.
 */
export function unsupportedPart(offer: OrderOffer, form: OrderForm): Unsupported | null {
  const { all, byForm } = knownOf(offer)
  const fit = byForm.get(formKey(form))
  if (fit?.sides.includes(form.side) === true && fit.sizes.includes(form.size)) return null
  let left = all
  for (const part of ['instrument', 'type', 'tif'] as const) {
    const fitting = left.filter(combination => combination[part] === form[part])
    if (fitting.length === 0) return { part, requested: form[part], offered: [...new Set(left.map(combination => combination[part]))] }
    left = fitting
  }
  const [only] = left
  if (only === undefined || !only.sides.includes(form.side)) return { part: 'side', requested: form.side, offered: only?.sides ?? [] }
  return only.sizes.includes(form.size) ? null : { part: 'size', requested: form.size, offered: only.sizes }
}

export function sizeOf({ quantity, notional }: { readonly quantity: Decimal | null; readonly notional: Decimal | null }): Size {
  if (notional !== null) return 'notional'
  return quantity !== null && /\.\d*[1-9]/.test(quantity) ? 'fraction' : 'whole'
}

function sizesOf(offer: OrderOffer, instrument: Instrument, type: OrderType, tif: TimeInForce): readonly Size[] {
  return SIZES.filter(size => {
    // Contracts have no fractions. An amount of money is for market orders that do not outlive the day.
    if (size !== 'whole' && instrument !== 'STK' && instrument !== 'CRYPTO') return false
    if (size === 'fraction' && instrument === 'STK' && !offer.fractional) return false
    if (size === 'notional' && (!offer.notional || type !== 'MKT' || tif === 'GTC' || tif === 'GTC+')) return false
    return !offer.exclusions.some(
      ({ instruments, types, tifs, sizes }) =>
        (instruments?.includes(instrument) ?? true) &&
        (types?.includes(type) ?? true) &&
        (tifs?.includes(tif) ?? true) &&
        (sizes?.includes(size) ?? true)
    )
  })
}

function whenOf(offer: OrderOffer, instrument: Instrument, tif: TimeInForce): Pick<Combination, 'hours' | 'placed'> {
  return { hours: hoursOf(offer, instrument, tif), placed: offer.onlyInSession.includes(tif) ? 'in_session' : 'any_time' }
}

function hoursOf({ extendedHours }: OrderOffer, instrument: Instrument, tif: TimeInForce): TradingHours {
  if (instrument === 'CRYPTO') return 'always'
  if (instrument === 'FUT') return 'exchange'
  switch (tif) {
    case 'OPEN':
      return 'opening_auction'
    case 'CLOSE':
      return 'closing_auction'
    case 'DAY+':
    case 'GTC+':
      return extendedHours === 'alone' ? 'extended' : 'regular_and_extended'
    default:
      return 'regular'
  }
}
