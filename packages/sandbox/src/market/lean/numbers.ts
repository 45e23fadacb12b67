/** Recorded numbers, exact: their text, and an integer for comparisons. */
import type { Decimal } from '@trunkline/core/domain/decimal'

/** Decimal places of the integers, the same as in the engine. Recorded prices have fewer. */
const PLACES = 9
const PLAIN = /^(0|[1-9]\d{0,14})(?:\.(\d{1,20}))?$/
const SCALED_INTEGER = /^(?:0|[1-9]\d{0,14})$/
/** Recorded share prices are dollars × 10,000. */
const SHARE_PLACES = 4
const INTERNED_MAX = 50_000

/** A price in two forms: `value` is billionths, cut after nine places, for comparisons; `text` is exact. */
export interface Price {
  readonly value: bigint
  readonly text: Decimal
}

/** Parses recorded price fields; returns undefined if the text is not a price. */
export type PriceReader = (field: string) => Price | undefined

/** A reader with a cache: a day's ticks repeat a few thousand prices. A full cache is cleared. */
export function priceReader(scaling: 'ten-thousandths' | 'plain'): PriceReader {
  const interned = new Map<string, Price>()
  return field => {
    const known = interned.get(field)
    if (known !== undefined) return known
    const text = scaling === 'plain' ? plain(field) : fromTenThousandths(field)
    if (text === undefined) return undefined
    const price = { value: billionths(text), text }
    if (interned.size >= INTERNED_MAX) interned.clear()
    interned.set(field, price)
    return price
  }
}

/** A plain decimal without a sign, unchanged; undefined if it is not one. */
export function plain(field: string): Decimal | undefined {
  return PLAIN.test(field) ? (field as Decimal) : undefined
}

/** `1674100` → `167.41`, `5` → `0.0005`; at least two places. */
function fromTenThousandths(field: string): Decimal | undefined {
  if (!SCALED_INTEGER.test(field)) return undefined
  const digits = field.padStart(SHARE_PLACES + 1, '0')
  const places = digits.slice(-SHARE_PLACES).replace(/0{1,2}$/, '')
  return `${digits.slice(0, -SHARE_PLACES)}.${places}` as Decimal
}

/** A plain decimal in billionths, cut (never rounded up) after nine places. */
export function billionths(text: string): bigint {
  const [, whole = '0', fraction = ''] = PLAIN.exec(text) ?? []
  return BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'))
}

/** Billionths as the shortest plain decimal: `1500000000` → `1.5`. */
export function fromBillionths(value: bigint): Decimal {
  const digits = value.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return (fraction === '' ? digits.slice(0, -PLACES) : `${digits.slice(0, -PLACES)}.${fraction}`) as Decimal
}
