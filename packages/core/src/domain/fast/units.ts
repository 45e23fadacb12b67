/** Short decimals as whole numbers of a decimal place: they fit a double exactly, and many times faster than arbitrary precision. */

const MINUS = 45
const POINT = 46
const DIGIT_ZERO = 48
/** Characters of a number, sign and point included, whose digits are a safe integer. */
export const SHORT_MAX = 15

/** A plain decimal in units of its decimal place `places`, which is at least its own; NaN if that takes more than `max` characters. */
export function unitsOf(text: string, own: number, places: number, max = SHORT_MAX): number {
  const { length } = text
  if (length + places - own > max) return Number.NaN
  const isNegative = text.charCodeAt(0) === MINUS
  let units = 0
  for (let index = isNegative ? 1 : 0; index < length; index += 1) {
    const code = text.charCodeAt(index)
    if (code !== POINT) units = units * 10 + (code - DIGIT_ZERO)
  }
  if (places > own) units *= 10 ** (places - own)
  return isNegative ? -units : units
}

/** The quotient of safe integers, rounded half to even. `below` is not 0. */
export function quotientOf(above: number, below: number): number {
  const rest = above % below
  const whole = (above - rest) / below
  const twice = Math.abs(rest) * 2 - Math.abs(below)
  const isUp = twice > 0 || (twice === 0 && whole % 2 !== 0)
  return isUp ? whole + Math.sign(above) * Math.sign(below) : whole
}

/** The shortest text of a safe integer of units. */
export function textOfUnits(units: number, places: number): string {
  let shown = Math.abs(units)
  let left = places
  while (left > 0 && shown % 10 === 0) {
    shown /= 10
    left -= 1
  }
  const digits = left === 0 ? String(shown) : String(shown).padStart(left + 1, '0')
  const text = left === 0 ? digits : `${digits.slice(0, -left)}.${digits.slice(-left)}`
  return units < 0 ? `-${text}` : text
}
