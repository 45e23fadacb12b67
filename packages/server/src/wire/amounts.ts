// One scale for numbers on the wire, whatever a broker wrote.
import { type Decimal, dividedBy, parseDecimal, placesOf } from '@trunkline/core/domain/decimal'

/** Of every number that brokers or this service work out: more places are rounded half to even. */
const PLACES_MAX = 9
const ONE = parseDecimal('1', 'one')

/** A price or an amount of money: two places at least and nine at most, with no zeros behind the second. The same number is always the same text. */
export function money(amount: Decimal): string {
  const [whole = '', places = ''] = bounded(amount).split('.')
  return `${whole}.${places.replace(/0+$/, '').padEnd(2, '0')}`
}

/** A number of shares, contracts or units: no zeros at the end of its places. */
export function quantity(amount: Decimal): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}

function bounded(amount: Decimal): Decimal {
  return placesOf(amount) > PLACES_MAX ? dividedBy(amount, ONE, PLACES_MAX) : amount
}

/** Unknown stays unknown. */
export function maybe(format: (amount: Decimal) => string, amount: Decimal | null): string | null {
  return amount === null ? null : format(amount)
}
