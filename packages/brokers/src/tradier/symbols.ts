/** Symbols both ways: Tradier writes share classes after a slash, and options as the OCC does without padding. Pure. */

import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseSymbol } from '@trunkline/core/domain/symbol'

const OPTION = /^[A-Z0-9]{1,6}\d{6}[CP]\d{8}$/
const ONE = parseDecimal('1', 'one')
const HUNDRED = parseDecimal('100', 'hundred')
/** Roots that are not their underlying's symbol. */
const UNDERLYINGS: Readonly<Record<string, string>> = {
  ...{ BRKB: 'BRK/B', SPXW: 'SPX', NDXP: 'NDX', RUTW: 'RUT', VIXW: 'VIX', DJXW: 'DJX', XSPW: 'XSP' }
}
/** Options of indexes trade a quarter of an hour longer than others. */
const INDEX_OPTION = /^(?:SPXW?|XSPW?|NDXP?|RUTW?|VIXW?|DJXW?)\d{6}[CP]/

export function isOption(symbol: string): boolean {
  return OPTION.test(symbol)
}

export function isIndexOption(symbol: string): boolean {
  return INDEX_OPTION.test(symbol)
}

/** Units that a quantity of one is for. */
export function multiplierOf(symbol: string): Decimal {
  return isOption(symbol) ? HUNDRED : ONE
}

export function toTradier(symbol: string): string {
  return isOption(symbol) ? symbol : symbol.replace('.', '/')
}

export function fromTradier(symbol: string): string {
  return symbol.replace('/', '.')
}

/**
 * The underlying of an option as Tradier wants it beside the contract. An adjusted root (AAPL1) has a digit that its underlying lacks.
 * @throws Malformed
 */
export function underlyingOf(option: string): string {
  const parts = parseSymbol(option, 'OPT')
  if (parts.instrument !== 'OPT') throw new Malformed('symbol', 'an option', option)
  const root = parts.root.replace(/\d$/, '')
  return UNDERLYINGS[root] ?? root
}
