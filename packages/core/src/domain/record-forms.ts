// The form required of currencies and symbols from brokers, which are shown, stored and searched.

const CURRENCY = /^[A-Z0-9]{3,10}$/
// Wider than our own notation, for holdings outside it, such as index options and adjusted shares. No control characters, no markup, and no
// name with a meaning in JavaScript.
const SYMBOL = /^[A-Za-z0-9$@.^][A-Za-z0-9 $@.^/:=+*#_-]{0,63}$/

export function isCurrency(text: string): boolean {
  return CURRENCY.test(text)
}

export function isSymbol(text: string): boolean {
  return SYMBOL.test(text)
}
