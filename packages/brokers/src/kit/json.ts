/** Parses a broker's JSON: bounded, safe against prototype keys, and without losing a digit. */

import { numbersQuoted } from '@trunkline/core/domain/fast/number-text'
import { JSON_CHARS_MAX, type JsonLimits, parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { object, type Wire } from './parse.ts'

export interface JsonOptions extends JsonLimits {
  /**
   * `native`: numbers become JavaScript numbers, for brokers that write money as text (the parse helpers refuse a number as a decimal).
   * `text`: every number stays as it was written, as text, for brokers that write money as numbers.
   */
  readonly numbers?: 'native' | 'text'
}

/** @throws Malformed for anything that is not JSON within the bounds. */
export function readJson(text: string, { numbers = 'native', ...limits }: JsonOptions = {}): unknown {
  if (numbers === 'native') return parseJson(text, { what: 'answer', ...limits })
  const { charsMax = JSON_CHARS_MAX } = limits
  if (text.length > charsMax) throw new Malformed('answer', `at most ${charsMax} characters`, text.length)
  return parseJson(quoted(text), { what: 'answer', ...limits, charsMax: Number.POSITIVE_INFINITY })
}

/** An object with every number as text. @throws Malformed */
export function readObject(text: string, what = 'answer'): Wire {
  return object(jsonWithNumbersAsText(text), what)
}

/** As `readJson`, with every number as text: the full parser of the fast readers. @throws Malformed */
export function jsonWithNumbersAsText(text: string): unknown {
  return readJson(text, { numbers: 'text' })
}

function quoted(text: string): string {
  try {
    return numbersQuoted(text)
  } catch {
    throw new Malformed('answer', 'JSON', text)
  }
}
