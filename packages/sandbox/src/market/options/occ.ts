/** Option symbols of the Options Clearing Corporation, without padding: `SPY261218C00660000`. */

export interface OptionName {
  readonly underlying: string
  /** `YYYY-MM-DD`. */
  readonly expiration: string
  readonly right: 'call' | 'put'
  /** Thousandths of the currency, a whole number from 1. */
  readonly strike: number
}

const SYMBOL = /^([A-Z]{1,6})(\d{2})(\d{2})(\d{2})([CP])(\d{8})$/
export const STRIKE_UNITS = 1_000

/** Null for a text that is not an option symbol; a parsed contract need not exist. */
export function parseOptionSymbol(symbol: string): OptionName | null {
  const [, underlying, year, month, day, letter, digits] = SYMBOL.exec(symbol) ?? []
  if (underlying === undefined || !isDate(Number(year), Number(month), Number(day))) return null
  const strike = Number(digits)
  return strike === 0 ? null : { underlying, expiration: `20${year}-${month}-${day}`, right: letter === 'C' ? 'call' : 'put', strike }
}

export function optionSymbol({ underlying, expiration, right, strike }: OptionName): string {
  const date = expiration.slice(2).replaceAll('-', '')
  return `${underlying}${date}${right === 'call' ? 'C' : 'P'}${String(strike).padStart(8, '0')}`
}

/** `660000` → `660`, `2500` → `2.5`. */
export function strikeText(strike: number): string {
  const whole = Math.floor(strike / STRIKE_UNITS)
  const rest = strike % STRIKE_UNITS
  return rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(3, '0').replace(/0+$/, '')}`
}

function isDate(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= Temporal.PlainYearMonth.from({ year: 2_000 + year, month }).daysInMonth
}
