// Which orders a broker takes: the table that validation goes by, the API shows and the contract suite places order by order.
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

/** What a broker takes: lists by instrument, and what of them does not go together. */
export interface OrderOffer {
  readonly name: string
  readonly instruments: readonly Instrument[]
  readonly orderTypes: { readonly [instrument in Instrument]?: readonly OrderType[] }
  readonly timesInForce: { readonly [instrument in Instrument]?: readonly TimeInForce[] }
  readonly sides: { readonly [instrument in Instrument]?: readonly Side[] }
  /** What a modification changes of an open order; a change of anything else is refused before the broker is asked. Nothing of an instrument that is absent. */
  readonly replaceFields: { readonly [instrument in Instrument]?: readonly ReplaceField[] }
  readonly notional: boolean
  readonly fractional: boolean
  /** What the lists would allow together and the broker does not take. */
  readonly exclusions: readonly Exclusion[]
  /** Times in force that are taken only while what they are for is on: an order sent at another time is rejected. */
  readonly onlyInSession: readonly TimeInForce[]
  /** Whether an order for the extended hours also trades in the regular ones, or only in the session in which it is sent. */
  readonly extendedHours: 'with_regular' | 'alone'
}

/** Orders to which all of this applies; what is left out applies to all. */
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

/** What decides whether an order is one of the combinations. */
export interface OrderForm {
  readonly instrument: Instrument
  readonly type: OrderType
  readonly tif: TimeInForce
  readonly side: Side
  readonly size: Size
}

/** The part that is not supported, what was requested, and what would be supported with the parts before it. */
export interface Unsupported {
  readonly part: keyof OrderForm
  readonly requested: string
  readonly offered: readonly string[]
}

/** Made once for each broker: every order is compared with them. */
const made = new WeakMap<OrderOffer, readonly Combination[]>()

/** Every combination, in the order of the enums. */
export function combinationsOf(offer: OrderOffer): readonly Combination[] {
  const known = made.get(offer) ?? combine(offer)
  made.set(offer, known)
  return known
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

/** Why an order is none of the combinations, or null when it is one. Parts are compared in the order instrument, type, time in force, side, size. */
export function unsupportedPart(offer: OrderOffer, form: OrderForm): Unsupported | null {
  let left = combinationsOf(offer)
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
    // Contracts are whole, pairs are not; an amount is for market orders that do not outlive the day.
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
