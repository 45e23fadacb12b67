/** Symbols both ways: share classes have a slash at Tradier and a dot in the sandbox; options are the same. */

const OPTION = /^[A-Z0-9]{1,6}\d{6}[CP]\d{8}$/

export function isOption(symbol: string): boolean {
  return OPTION.test(symbol)
}

export function toTradier(symbol: string): string {
  return symbol.replace('.', '/')
}

export function fromTradier(symbol: string): string {
  return symbol.trim().toUpperCase().replace('/', '.')
}
