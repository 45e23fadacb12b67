/** TradeStation's symbols and the sandbox's: options with a space and the bare strike, futures roots of its own, crypto without a slash. */

import { type Instrument, type InstrumentKind, optionSymbol, parseOptionSymbol, STRIKE_UNITS, strikeText } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'

/** The exchanges' roots and TradeStation's, where they differ. */
const ROOTS: Readonly<Record<string, string>> = {
  ...{ '6A': 'AD', '6B': 'BP', '6C': 'CD', '6E': 'EC', '6J': 'JY', '6S': 'SF', '6M': 'MP1', '6N': 'NE1', '6L': 'BR', NKD: 'NK' },
  ...{ ZB: 'US', ZN: 'TY', ZF: 'FV', ZT: 'TU', TN: 'TEN', ZC: 'C', ZS: 'S', ZW: 'W', ZL: 'BO', ZM: 'SM', ZO: 'O', KE: 'KW' },
  ...{ LE: 'LC', GF: 'FC', HE: 'LH' }
}
const EXCHANGE_ROOTS = new Map(Object.entries(ROOTS).map(([theirs, ours]) => [ours, theirs]))

const FUTURE = /^([A-Z0-9]{1,4})([FGHJKMNQUVXZ]\d{2})$/
/** Of an index as well: only the index itself is written `$ROOT.X`. */
const OPTION = /^([A-Z]{1,6}) (\d{2})(\d{2})(\d{2})([CP])(\d{1,5})(?:\.(\d{1,3}))?$/
const INDEX = /^\$([A-Z]{1,6})\.X$/
const PAIR = /^([A-Z0-9]{2,6})(USDT?)$/

/** The sandbox's symbol as TradeStation writes it. */
export function shownSymbol(symbol: string): string {
  const option = parseOptionSymbol(symbol)
  if (option !== null) {
    const { underlying, expiration, right, strike } = option
    return `${underlying} ${expiration.slice(2).replaceAll('-', '')}${right === 'call' ? 'C' : 'P'}${strikeText(strike)}`
  }
  if (symbol.includes('/')) return symbol.replace('/', '')
  const [, root, month] = FUTURE.exec(symbol) ?? []
  return root !== undefined && month !== undefined ? `${ROOTS[root] ?? root}${month}` : symbol
}

/** Every symbol of the sandbox that the text can mean, the likeliest first; whether it exists is another question. */
export function meantSymbols(text: string): readonly string[] {
  const [, underlying, year, month, day, letter, whole = '', places = ''] = OPTION.exec(text) ?? []
  if (underlying !== undefined) {
    const strike = Number(whole) * STRIKE_UNITS + Number(places.padEnd(3, '0'))
    return strike === 0
      ? []
      : [optionSymbol({ underlying, expiration: `20${year}-${month}-${day}`, right: letter === 'C' ? 'call' : 'put', strike })]
  }
  const [, root, contract] = FUTURE.exec(text) ?? []
  const future = root === undefined ? [] : [`${EXCHANGE_ROOTS.get(root) ?? root}${contract}`]
  const [, base, quote] = PAIR.exec(text) ?? []
  const pair = base === undefined ? [] : [`${base}/${quote}`]
  // A share may look like a month of a future; what has the very name goes first.
  return [text, ...future, ...pair].filter(symbol => !/[ ]/.test(symbol))
}

/** The underlying of options, which an index has under a name of its own. */
export function underlyingOf(text: string): string {
  return INDEX.exec(text)?.[1] ?? text
}

/** Null where there is none. */
export function findInstrument({ contracts }: Pick<BrokerageView, 'contracts'>, text: string): Instrument | null {
  const known = meantSymbols(text).find(symbol => contracts.find(symbol) !== null)
  return known === undefined ? null : contracts.find(known)
}

const ASSET_TYPES = { STK: 'STOCK', FUT: 'FUTURE', CRYPTO: 'CRYPTO', OPT: 'STOCKOPTION' } as const satisfies Record<InstrumentKind, string>

export function assetOf({ kind, option }: Pick<Instrument, 'kind' | 'option'>): string {
  return option?.settlement === 'cash' ? 'INDEXOPTION' : ASSET_TYPES[kind]
}
