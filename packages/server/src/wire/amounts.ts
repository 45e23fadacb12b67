// Formats numbers the same way for all brokers.
import { type Decimal, dividedBy, parseDecimal, placesOf } from '@trunkline/core/domain/decimal'

/** Decimal places. Numbers with more are rounded half to even. */
const PLACES_MAX = 9
/** Fewest decimal places of money. */
const MONEY_PLACES = 2
const ONE = parseDecimal('1', 'one')

/** A price or an amount of money: two to nine decimal places, without trailing zeros after the second. Equal numbers give equal texts. */
export function money(amount: Decimal): string {
  // Most are written so already.
  if (placesOf(amount) === MONEY_PLACES) return amount
  const [whole = '', places = ''] = bounded(amount).split('.')
  return `${whole}.${places.replace(/0+$/, '').padEnd(MONEY_PLACES, '0')}`
}

/** A number of shares, contracts or units, without trailing zeros. */
export function quantity(amount: Decimal): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}

function bounded(amount: Decimal): Decimal {
  return placesOf(amount) > PLACES_MAX ? dividedBy(amount, ONE, PLACES_MAX) : amount
}

/** Formats an amount; null stays null. */
export function maybe(format: (amount: Decimal) => string, amount: Decimal | null): string | null {
  return amount === null ? null : format(amount)
}
