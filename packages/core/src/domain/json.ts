/** Reading foreign JSON: bounded in length and depth, and free of `__proto__`. The only place that parses text from outside. */

import { Malformed } from './malformed.ts'

export interface JsonLimits {
  /** Nesting of objects and lists. */
  readonly depthMax?: number
  /** Length of the text, in UTF-16 units. */
  readonly charsMax?: number
  /** What the text is called in errors. */
  readonly what?: string
}

/** Whatever walks through a value (validation, the log, JSON.stringify) does so recursively; deeper values would exhaust the stack there. */
export const JSON_DEPTH_MAX = 32
export const JSON_CHARS_MAX = 8 * 1024 * 1024

/** @throws Malformed for anything that is not JSON within the limits. */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { depthMax = JSON_DEPTH_MAX, charsMax = JSON_CHARS_MAX, what = 'text' } = limits
  if (text.length > charsMax) throw new Malformed(what, `at most ${charsMax} characters`, text.length)
  const value = parsed(text, what)
  // A name may be written with escapes.
  const mayNameProto = text.includes('__proto__') || text.includes('\\u')
  if ((mayNameProto || mayBeDeep(text, depthMax)) && isStructure(value)) inspect(value, depthMax, { what, mayNameProto })
  return value
}

// JSON.parse itself keeps no stack of its own for nesting, so it copes with any depth.
function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Malformed(what, 'JSON', text)
  }
}

/** False when the text has too few brackets to be too deep, as most have: counting them costs less than walking through the value. */
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
  // JSON.parse makes it an own key; the first careless copy of the object would turn it into a prototype.
  if (inspection.mayNameProto && Object.hasOwn(value, '__proto__')) throw new Malformed(inspection.what, 'free of __proto__', '__proto__')
  // Objects as JSON.parse makes them inherit nothing that is enumerable; a list of all values of each would cost as much as the rest.
  for (const name in value) {
    const item = value[name]
    if (isStructure(item)) inspect(item, depthLeft - 1, inspection)
  }
}
