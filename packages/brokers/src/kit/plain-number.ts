/** JSON numbers in plain decimal notation. */

import { type Decimal, DIGITS_MAX } from '@trunkline/core/domain/decimal'
import { isPlainDecimal } from '@trunkline/core/domain/fast/scan'

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
/** More characters than any printed double has. */
const CHARS_MAX = 400

/**
 * Exactly the same value without an exponent, without the sign of a zero, and without trailing zeros if it would be too long with them.
 * Null for text that is not a number, or that has more digits than a decimal may have.
 */
export function plainNumber(text: string): Decimal | null {
  if (isPlainDecimal(text)) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = (text.length <= CHARS_MAX ? JSON_NUMBER.exec(text) : null) ?? []
  if (whole === '') return null
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (/^0*$/.test(digits)) return zero(fraction.length)
  if (Math.abs(point) > CHARS_MAX) return null
  const before = digits
    .slice(0, Math.max(point, 0))
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '')
  const after = digits.slice(Math.max(point, 0)).padStart(point < 0 ? digits.length - point : 0, '0')
  const digitsLeft = Math.max(0, DIGITS_MAX - Math.max(before.length, 1))
  const rest = after.length <= digitsLeft ? after : after.replace(/0+$/, '')
  const plain = `${sign}${before === '' ? '0' : before}${rest === '' ? '' : `.${rest}`}`
  return isPlainDecimal(plain) ? plain : null
}

function zero(places: number): Decimal | null {
  const plain = places === 0 ? '0' : `0.${'0'.repeat(Math.min(places, DIGITS_MAX - 1))}`
  return isPlainDecimal(plain) ? plain : null
}
