// The form of a broker's texts that are shown, stored and searched by: anything else is no currency and no symbol.

const CURRENCY = /^[A-Z0-9]{3,10}$/
// Wider than our own spelling, for holdings that have none: an index option, an adjusted share. No control characters, no markup, no name that JavaScript gives a meaning.
const SYMBOL = /^[A-Za-z0-9$@.^][A-Za-z0-9 $@.^/:=+*#_-]{0,63}$/

export function isCurrency(text: string): boolean {
  return CURRENCY.test(text)
}

export function isSymbol(text: string): boolean {
  return SYMBOL.test(text)
}
