/** Exchanges by Tradier's letters. */

const LETTERS: Readonly<Record<string, string>> = { NASDAQ: 'Q', NYSE: 'N', ARCA: 'P', AMEX: 'A', BATS: 'Z', IEX: 'V', OPRA: 'Z' }

/** One letter; that of NASDAQ for a venue that Tradier does not know. */
export function venueOf(exchange: string): string {
  return LETTERS[exchange.toUpperCase()] ?? (exchange.length === 1 ? exchange : 'Q')
}
