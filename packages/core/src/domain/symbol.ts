import { Malformed } from './malformed.ts'
import type { Instrument } from './vocabulary.ts'

/** The parts of a symbol, by its form alone. */
export type SymbolParts =
  | { readonly instrument: 'STK'; readonly ticker: string }
  | {
      readonly instrument: 'OPT'
      readonly root: string
      /** `YYYY-MM-DD`. */
      readonly expiration: string
      readonly right: 'C' | 'P'
      /** In thousandths of the currency, as in the OCC symbol. */
      readonly strikeThousandths: number
    }
  | { readonly instrument: 'FUT'; readonly root: string; readonly month: FutureMonth /** Two digits. */; readonly year: string }
  | { readonly instrument: 'CRYPTO'; readonly base: string; readonly quote: string }

/** The futures month letters, January to December. */
export const FUTURE_MONTHS = ['F', 'G', 'H', 'J', 'K', 'M', 'N', 'Q', 'U', 'V', 'X', 'Z'] as const
export type FutureMonth = (typeof FUTURE_MONTHS)[number]

// OCC: 21 characters, root padded to six, YYMMDD, C or P, strike × 1000 in eight digits. Adjusted roots end in a digit (AAPL1).
const OPTION = /^([A-Z]{1,5}[0-9]?)( *)(\d{2})(\d{2})(\d{2})([CP])(\d{8})$/
const FUTURE = /^([A-Z0-9]{1,4})([FGHJKMNQUVXZ])(\d{2})$/
const CRYPTO = /^([A-Z0-9]{1,12})\/([A-Z0-9]{1,12})$/
// Share classes and units follow a dot or a dash (BRK.B, BF-B). No share symbol consists of digits only.
const STOCK = /^[A-Z][A-Z0-9]{0,7}(?:[.-][A-Z0-9]{1,4})?$/

/**
 * Parses a symbol by its form. `instrument` decides where the form is ambiguous: a ticker that looks like a future (`ESZ26` as `STK`).
 * @throws Malformed if the text is not a symbol, or not one of that instrument.
 */
export function parseSymbol(text: string, instrument?: Instrument): SymbolParts {
  const parts = instrument === undefined ? byForm(text) : as(text, instrument)
  if (parts !== undefined) return parts
  throw new Malformed('symbol', expected(instrument), text)
}

/** The API's text of a symbol: OCC without padding, `BASE/QUOTE`, `[ROOT][M][YY]`. */
export function formatSymbol(parts: SymbolParts): string {
  switch (parts.instrument) {
    case 'STK':
      return parts.ticker
    case 'OPT':
      return `${parts.root}${parts.expiration.slice(2).replaceAll('-', '')}${parts.right}${String(parts.strikeThousandths).padStart(8, '0')}`
    case 'FUT':
      return `${parts.root}${parts.month}${parts.year}`
    case 'CRYPTO':
      return `${parts.base}/${parts.quote}`
  }
}

function byForm(text: string): SymbolParts | undefined {
  return as(text, 'CRYPTO') ?? as(text, 'OPT') ?? as(text, 'FUT') ?? as(text, 'STK')
}

function as(text: string, instrument: Instrument): SymbolParts | undefined {
  switch (instrument) {
    case 'STK':
      return STOCK.test(text) ? { instrument, ticker: text } : undefined
    case 'OPT':
      return option(text)
    case 'FUT': {
      const [, root, month, year] = FUTURE.exec(text) ?? []
      return root === undefined || !isFutureMonth(month) || year === undefined ? undefined : { instrument, root, month, year }
    }
    case 'CRYPTO': {
      const [, base, quote] = CRYPTO.exec(text) ?? []
      return base === undefined || quote === undefined ? undefined : { instrument, base, quote }
    }
    case 'MLEG_OPT':
      return undefined
  }
}

function option(text: string): SymbolParts | undefined {
  const [, root, padding, yy, mm, dd, right, strike] = OPTION.exec(text) ?? []
  if (root === undefined || padding === undefined || strike === undefined || (right !== 'C' && right !== 'P')) return undefined
  if (padding !== '' && root.length + padding.length !== 6) return undefined
  const expiration = `20${yy}-${mm}-${dd}`
  return isDate(expiration) ? { instrument: 'OPT', root, expiration, right, strikeThousandths: Number(strike) } : undefined
}

function isDate(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() === text
  } catch {
    return false
  }
}

function isFutureMonth(letter: string | undefined): letter is FutureMonth {
  return FUTURE_MONTHS.some(month => month === letter)
}

function expected(instrument: Instrument | undefined): string {
  switch (instrument) {
    case 'STK':
      return 'a share symbol such as AAPL or BRK.B'
    case 'OPT':
      return 'an OCC option symbol such as AAPL261218C00200000'
    case 'FUT':
      return 'a future such as ESZ26'
    case 'CRYPTO':
      return 'a crypto pair such as BTC/USD'
    case 'MLEG_OPT':
      return 'null for a multi-leg order'
    case undefined:
      return 'a share (AAPL), an OCC option (AAPL261218C00200000), a future (ESZ26) or a crypto pair (BTC/USD)'
  }
}
