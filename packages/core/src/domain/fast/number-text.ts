/**
 * Keeps JSON numbers as they were written: quotes are put around them before the text is parsed. It replaces a reviver of `JSON.parse` that
 * returns each number's source, which is a call per value.
 */

const QUOTE = 34
const PLUS = 43
const MINUS = 45
const POINT = 46
const ZERO = 48
const NINE = 57
const COLON = 58
const BACKSLASH = 92
const LOWER_E = 101
const UPPER_E = 69

/**
 * The same JSON with every number as a string. Invalid JSON stays invalid: a quoted number is valid exactly where a number is, except as
 * the name of a member, which is refused here. @throws SyntaxError
 */
export function numbersQuoted(text: string): string {
  const { length } = text
  let quoted = ''
  let from = 0
  let index = 0
  while (index < length) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = afterString(text, index)
    } else if (isNumberStart(code)) {
      const end = afterNumber(text, index)
      if (end === null || isName(text, end)) throw new SyntaxError('not a number, or a number where a name must stand')
      quoted += `${text.slice(from, index)}"${text.slice(index, end)}"`
      from = end
      index = end
    } else index += 1
  }
  return from === 0 ? text : quoted + text.slice(from)
}

/** Offset after the string's closing quote; the end of the text when there is none, which the parser then refuses. */
function afterString(text: string, start: number): number {
  for (let close = text.indexOf('"', start + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let escapes = 0
    while (text.charCodeAt(close - 1 - escapes) === BACKSLASH) escapes += 1
    // Each pair of backslashes is one literal backslash.
    if (escapes % 2 === 0) return close + 1
  }
  return text.length
}

/** Offset after the number that begins at `start`; null when it is not a JSON number. */
export function afterNumber(text: string, start: number): number | null {
  let index = text.charCodeAt(start) === MINUS ? start + 1 : start
  const whole = text.charCodeAt(index) === ZERO ? index + 1 : afterDigits(text, index)
  if (whole === index) return null
  index = whole
  if (text.charCodeAt(index) === POINT) {
    index = afterDigits(text, whole + 1)
    if (index === whole + 1) return null
  }
  const mark = text.charCodeAt(index)
  if (mark !== LOWER_E && mark !== UPPER_E) return index
  const sign = text.charCodeAt(index + 1)
  const digits = sign === PLUS || sign === MINUS ? index + 2 : index + 1
  const end = afterDigits(text, digits)
  return end === digits ? null : end
}

export function isNumberStart(code: number): boolean {
  return isDigit(code) || code === MINUS
}

function isName(text: string, end: number): boolean {
  let next = end
  while (isSpace(text.charCodeAt(next))) next += 1
  return text.charCodeAt(next) === COLON
}

/** Offset after the digits at `start`, if any. */
function afterDigits(text: string, start: number): number {
  let index = start
  while (isDigit(text.charCodeAt(index))) index += 1
  return index
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
