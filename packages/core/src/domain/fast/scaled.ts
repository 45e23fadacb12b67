/**
 * Decimals as integers of a fixed scale, to compare and add millions of them per second. It replaces `compare` and `plus` of the decimals.
 */
import { type Decimal, plus, ZERO } from '../decimal.ts'

/** Decimal places of the integers. */
const PLACES = 8
const DIGITS_MAX = 15
const POWERS = Array.from({ length: PLACES + 1 }, (_, power) => 10 ** power)
const MINUS = 45
const POINT = 46
const DIGIT_ZERO = 48

/**
 * A plain decimal times 10⁸, exactly. NaN if that is not a safe integer: more than 15 digits, more than 8 places, or beyond ±90 million.
 * The caller then works with the texts.
 */
export function scaled(text: Decimal): number {
  const length = text.length
  if (length > DIGITS_MAX + 1) return Number.NaN
  let value = 0
  let point = -1
  let index = text.charCodeAt(0) === MINUS ? 1 : 0
  for (; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code === POINT) point = index
    else value = value * 10 + (code - DIGIT_ZERO)
  }
  const places = point < 0 ? 0 : length - 1 - point
  const power = POWERS[PLACES - places]
  if (power === undefined) return Number.NaN
  value *= power
  if (value > Number.MAX_SAFE_INTEGER) return Number.NaN
  return text.charCodeAt(0) === MINUS ? -value : value
}

/** A sum of decimals: always exact, and fast for numbers of ordinary size. */
export class ExactSum {
  // The sum is the total of the three. `#quick` is moved to `#moved` before it would exceed the safe integers.
  #quick = 0
  #moved = 0n
  #odd: Decimal = ZERO

  add(text: Decimal): void {
    const value = scaled(text)
    const sum = this.#quick + value
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= Number.MIN_SAFE_INTEGER) this.#quick = sum
    else if (Number.isNaN(value)) this.#odd = plus(this.#odd, text)
    else {
      this.#moved += BigInt(this.#quick)
      this.#quick = value
    }
  }

  clear(): void {
    this.#quick = 0
    this.#moved = 0n
    this.#odd = ZERO
  }

  /** The shortest text of the sum. */
  total(): Decimal {
    const known = textOf(this.#moved + BigInt(this.#quick))
    return this.#odd === ZERO ? known : plus(known, this.#odd)
  }
}

function textOf(value: bigint): Decimal {
  const sign = value < 0n ? '-' : ''
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -PLACES)}${fraction === '' ? '' : '.'}${fraction}` as Decimal
}
