/** Parses untrusted JSON: bounded in length and depth, and without `__proto__`. The only place that parses text from outside. */

import { Malformed } from './malformed.ts'

export interface JsonLimits {
  /** Most levels of nested objects and lists. */
  readonly depthMax?: number
  /** Most UTF-16 units of the text. */
  readonly charsMax?: number
  /** What errors call the text. */
  readonly what?: string
}

/** Validation, logging and JSON.stringify recurse into values; deeper ones would overflow the stack there. */
export const JSON_DEPTH_MAX = 32
export const JSON_CHARS_MAX = 8 * 1024 * 1024

/** @throws Malformed for anything that is not JSON within the limits. */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { depthMax = JSON_DEPTH_MAX, charsMax = JSON_CHARS_MAX, what = 'text' } = limits
  if (text.length > charsMax) throw new Malformed(what, `at most ${charsMax} characters`, text.length)
  const value = parsed(text, what)
  // The name may be written with escapes.
  const mayNameProto = text.includes('__proto__') || text.includes('\\u')
  if ((mayNameProto || mayBeDeep(text, depthMax)) && isStructure(value)) inspect(value, depthMax, { what, mayNameProto })
  return value
}

// JSON.parse does not recurse, so it handles any depth.
function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Malformed(what, 'JSON', text)
  }
}

/** False if the text has too few brackets to be too deep, as most have: counting them is cheaper than walking through the value. */
function mayBeDeep(text: string, depthMax: number): boolean {
  let left = depthMax
  for (const opener of ['{', '[']) {
    for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, at + 1)) {
      left -= 1
      if (left < 0) return true
    }
  }
  return false
}

interface Inspection {
  readonly what: string
  readonly mayNameProto: boolean
}

type Structure = Readonly<Record<string, unknown>>

function isStructure(value: unknown): value is Structure {
  return typeof value === 'object' && value !== null
}

function inspect(value: Structure, depthLeft: number, inspection: Inspection): void {
  if (depthLeft === 0) throw new Malformed(inspection.what, 'less deeply nested', '…')
  if (Array.isArray(value)) {
    for (const item of value) if (isStructure(item)) inspect(item, depthLeft - 1, inspection)
    return
  }
  // JSON.parse makes it an own property; a careless copy of the object would turn it into a prototype.
  if (inspection.mayNameProto && Object.hasOwn(value, '__proto__')) throw new Malformed(inspection.what, 'free of __proto__', '__proto__')
  // Objects made by JSON.parse inherit nothing enumerable. Object.values of each would cost as much as the rest of the check.
  for (const name in value) {
    const item = value[name]
    if (isStructure(item)) inspect(item, depthLeft - 1, inspection)
  }
}
