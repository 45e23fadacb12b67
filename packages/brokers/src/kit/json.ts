/** Reading a stranger's JSON: bounded, free of prototype tricks, and without losing a digit. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { numbersQuoted } from './number-text.ts'

export interface JsonOptions {
  /** Nesting of objects and lists. */
  readonly depthMax?: number
  /** Length of the text, in UTF-16 units. */
  readonly charsMax?: number
  /**
   * `native`: numbers become JavaScript numbers, for brokers that write money as text (the parse helpers refuse a number as a decimal).
   * `text`: every number is kept as it was written, as text, for brokers that write money as numbers.
   */
  readonly numbers?: 'native' | 'text'
}

const DEPTH_MAX = 32
const CHARS_MAX = 8 * 1024 * 1024

/** @throws Malformed for anything that is not JSON within the bounds. */
export function readJson(text: string, options: JsonOptions = {}): unknown {
  const charsMax = options.charsMax ?? CHARS_MAX
  if (text.length > charsMax) throw new Malformed('JSON', `at most ${charsMax} characters`, text.length)
  const value = parsed(text, options.numbers ?? 'native')
  const depthMax = options.depthMax ?? DEPTH_MAX
  if (!isHarmless(text, depthMax)) inspect(value, depthMax)
  return value
}

function parsed(text: string, numbers: 'native' | 'text'): unknown {
  try {
    return JSON.parse(numbers === 'native' ? text : numbersQuoted(text))
  } catch {
    throw new Malformed('answer', 'JSON', text)
  }
}

/** Whether the text alone shows that it nests no deeper and names no prototype: most do, and walking through values costs more than reading them. */
function isHarmless(text: string, depthMax: number): boolean {
  // The name may also be written with escapes.
  if (text.includes('__proto__') || text.includes('\\u')) return false
  let left = depthMax
  for (const opener of ['{', '['])
    for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, at + 1)) {
      left -= 1
      if (left < 0) return false
    }
  return true
}

function inspect(value: unknown, depthLeft: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) throw new Malformed('JSON', 'less deeply nested', '…')
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') inspect(item, depthLeft - 1)
    return
  }
  // JSON.parse makes it an own key; the first careless copy of the object would turn it into a prototype.
  if (Object.hasOwn(value, '__proto__')) throw new Malformed('JSON', 'free of __proto__', '__proto__')
  for (const item of Object.values(value)) if (typeof item === 'object') inspect(item, depthLeft - 1)
}
