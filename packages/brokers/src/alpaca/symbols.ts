/** Symbols as Alpaca writes them. Orders and market data have the pair's slash, positions and activities have lost it. Pure. */

import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import type { Instrument } from '@trunkline/core/domain/vocabulary'

/** Quote currencies of crypto pairs at Alpaca; the longer code first where one begins with another. */
const PAIR = /^([A-Z0-9]{1,12}?)(USDT|USDC|USD|BTC|ETH|EUR|GBP)$/

/** `BTCUSD` → `BTC/USD`; a pair in an unknown currency stays as it is. */
export function pairOf(symbol: string): string {
  if (symbol.includes('/')) return symbol
  const [, base, quote] = PAIR.exec(symbol) ?? []
  return base === undefined || quote === undefined ? symbol : `${base}/${quote}`
}

const OPTION = /^[A-Z]{1,5}\d?\d{6}[CP]\d{8}$/

/** Shares' symbols are shorter, classes and units aside, which stand behind a dot. */
const PAIR_LEAST = 6

/** What a symbol names where Alpaca does not say its class. */
export function instrumentOf(symbol: string): Instrument {
  if (symbol.includes('/') || (symbol.length >= PAIR_LEAST && PAIR.test(symbol))) return 'CRYPTO'
  return OPTION.test(symbol) ? 'OPT' : 'STK'
}

/** The core's text of a symbol. */
export function symbolOf(symbol: string, instrument: Instrument): string {
  return instrument === 'CRYPTO' ? pairOf(symbol) : symbol
}

const HUNDRED = parseDecimal('100', 'hundred')
const ADJUSTED = /^[A-Z]+\d\d{6}[CP]\d{8}$/

/** What a contract delivers; null for an adjusted one, which has a digit behind its root: what that delivers Alpaca does not state. */
export function unitsOf(contract: string): Decimal | null {
  return ADJUSTED.test(contract) ? null : HUNDRED
}

/** Where Alpaca keeps the market data of a kind of instrument. */
export function rootOf(instrument: Instrument): string {
  switch (instrument) {
    case 'CRYPTO':
      return '/v1beta3/crypto/us'
    case 'OPT':
      return '/v1beta1/options'
    default:
      return '/v2/stocks'
  }
}
