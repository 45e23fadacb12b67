// One scale for numbers on the wire, whatever a broker wrote.
import type { Decimal } from '@trunkline/core/domain/decimal'
import { dividedBy, parseDecimal } from '@trunkline/core/domain/decimal'

const PRICE_PLACES_MAX = 9
const ONE = parseDecimal('1', 'one')

/** An amount of money: at least two places, and no zeros behind them. */
export function money(amount: Decimal): string {
  const [whole = '', places = ''] = amount.split('.')
  return `${whole}.${places.replace(/0+$/, '').padEnd(2, '0')}`
}

/** A number of shares, contracts or units: no zeros at the end of its places. */
export function quantity(amount: Decimal): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}

/** As precise as the broker told it, at most nine places. */
export function price(amount: Decimal): string {
  const places = amount.length - amount.indexOf('.') - 1
  return amount.includes('.') && places > PRICE_PLACES_MAX ? dividedBy(amount, ONE, PRICE_PLACES_MAX) : amount
}

/** Unknown stays unknown. */
export function maybe(format: (amount: Decimal) => string, amount: Decimal | null): string | null {
  return amount === null ? null : format(amount)
}
