/** Symbols in the broker's spelling and in ours. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { FUTURE_MONTHS, formatSymbol, parseSymbol, type SymbolParts } from '@trunkline/core/domain/symbol'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { UnknownValueError } from '../kit/parse.ts'

/** The exchange's root of a future, and the broker's own where it differs. */
const ROOTS: Readonly<Record<string, string>> = {
  ...{ '6A': 'AD', '6B': 'BP', '6C': 'CD', '6E': 'EC', '6S': 'SF', '6M': 'MP1', '6N': 'NE1', '6L': 'BR', NKD: 'NK' },
  ...{ ZB: 'US', ZN: 'TY', ZF: 'FV', ZT: 'TU', TN: 'TEN', ZC: 'C', ZS: 'S', ZW: 'W', ZL: 'BO', ZM: 'SM', ZO: 'O', KE: 'KW' },
  ...{ LE: 'LC', GF: 'FC', HE: 'LH' }
}
const BROKER_ROOTS: Readonly<Record<string, string>> = Object.fromEntries(Object.entries(ROOTS).map(([ours, theirs]) => [theirs, ours]))

/** Its prices are written on another scale at the broker, by an undocumented factor: no order and no price of it is worth that risk. */
const SCALED_ROOTS: ReadonlySet<string> = new Set(['6J'])
const BROKER_SCALED_ROOTS: ReadonlySet<string> = new Set(['JY'])

/** Indexes, which the broker writes as `$ROOT.X`. Options on them carry the bare root: `RUTW 241206C2415` (recorded 2024-12). */
const INDEXES: ReadonlySet<string> = new Set(['SPX', 'SPXW', 'NDX', 'NDXP', 'RUT', 'RUTW', 'VIX', 'VIXW', 'XSP', 'DJX', 'OEX', 'XEO'])

const OPTION = /^(?:\$([A-Z0-9]{1,6})\.X|([A-Z]{1,5}[0-9]?)) +(\d{6})([CP])(\d{1,5}(?:\.\d{1,3})?)$/
const FUTURE = new RegExp(`^([A-Z0-9]{1,4})([${FUTURE_MONTHS.join('')}])(\\d{2})$`)
const INDEX = /^\$([A-Z0-9]{1,8})\.X$/
const PLACES = 3

/** The broker's spelling of our symbol. @throws Malformed for what it does not trade or quote, saying so. */
export function brokerSymbol(symbol: string, instrument?: Instrument): string {
  const parts = parseSymbol(symbol, instrument)
  switch (parts.instrument) {
    case 'STK':
      return INDEXES.has(parts.ticker) ? `$${parts.ticker}.X` : parts.ticker
    case 'OPT':
      return `${parts.root} ${parts.expiration.slice(2).replaceAll('-', '')}${parts.right}${strikeText(parts.strikeThousandths)}`
    case 'FUT':
      // A root that is the broker's name of another one would be another contract.
      if (SCALED_ROOTS.has(parts.root) || Object.hasOwn(BROKER_ROOTS, parts.root))
        throw new Malformed('symbol', 'a future whose prices the broker writes as its exchange does', symbol)
      return `${ROOTS[parts.root] ?? parts.root}${parts.month}${parts.year}`
    case 'CRYPTO':
      return `${parts.base}${parts.quote}`
  }
}

/**
 * Our symbol for what the broker calls so. @throws UnknownValueError for one that we have no spelling for: its record is left out, and no
 * other.
 */
export function ourSymbol(text: string, instrument: Instrument): string {
  try {
    return translated(text.trim(), instrument)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    throw new UnknownValueError('Symbol', { [error.expected]: true }, text)
  }
}

function translated(symbol: string, instrument: Instrument): string {
  switch (instrument) {
    case 'OPT':
      return formatSymbol(option(symbol))
    case 'FUT': {
      const [, root, month, year] = FUTURE.exec(symbol) ?? []
      if (root === undefined || BROKER_SCALED_ROOTS.has(root))
        throw new Malformed('symbol', 'a future of a known scale, such as ESZ26', symbol)
      return formatSymbol(parseSymbol(`${BROKER_ROOTS[root] ?? root}${month}${year}`, 'FUT'))
    }
    default: {
      const [, index] = INDEX.exec(symbol) ?? []
      return formatSymbol(parseSymbol(index ?? symbol, instrument))
    }
  }
}

function option(symbol: string): SymbolParts {
  const [, index, stock, date, right, strike] = OPTION.exec(symbol) ?? []
  const root = index ?? stock
  if (root === undefined || date === undefined || right === undefined || strike === undefined)
    throw new Malformed('symbol', 'an option such as MSFT 261218C450', symbol)
  const [whole = '', fraction = ''] = strike.split('.')
  return parseSymbol(`${root}${date}${right}${whole.padStart(8 - PLACES, '0')}${fraction.padEnd(PLACES, '0')}`, 'OPT')
}

/** Without padding: 450, 12.5. */
function strikeText(thousandths: number): string {
  const digits = String(thousandths).padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return `${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`
}
