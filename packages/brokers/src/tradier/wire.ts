/**
 * Tradier's JSON is XML made over: a list of one is its only item, an empty list the text "null", numbers are written with any number of zeros.
 * Numbers are kept as text. Pure; throws Malformed and nothing else.
 */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { readJson } from '../kit/json.ts'
import { decimal, displayTextOrNull, field, object, text, type Wire } from '../kit/parse.ts'

const ITEMS_MAX = 100_000

export function readAnswer(body: string): Wire {
  return object(readJson(body, { numbers: 'text' }), 'answer')
}

/** The items of `{[outer]: {[inner]: […]}}` in any of its forms. */
export function items(answer: Wire, outer: string, inner: string): readonly Wire[] {
  return itemsIn(answer, outer, inner).map((item, index) => object(item, `${inner}[${index}]`))
}

/** The same for a list of plain texts, such as dates. */
export function texts(answer: Wire, outer: string, inner: string): readonly string[] {
  return itemsIn(answer, outer, inner).map(item => {
    if (typeof item === 'string' && item !== '' && item.length <= 64) return item
    throw new Malformed(inner, 'a list of texts', item)
  })
}

/** The items of a field that is itself such a list. */
export function collapsed(wire: Wire, key: string): readonly unknown[] {
  const value = field(wire, key)
  if (isNothing(value)) return []
  if (!Array.isArray(value)) return [value]
  if (value.length > ITEMS_MAX) throw new Malformed(key, `a list of at most ${ITEMS_MAX}`, value.length)
  return value
}

function itemsIn(answer: Wire, outer: string, inner: string): readonly unknown[] {
  // An answer about something else must not be taken for an empty list.
  if (!Object.hasOwn(answer, outer)) throw new Malformed(outer, 'in the answer', Object.keys(answer))
  const held = field(answer, outer)
  if (isNothing(held)) return []
  const holder = object(held, outer)
  if (!Object.hasOwn(holder, inner) && Object.keys(holder).length > 0) throw new Malformed(inner, `in ${outer}`, Object.keys(holder))
  return collapsed(holder, inner)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === 'null' || value === ''
}

/** A number as it was written, but for exponents and the sign of nothing, which are no plain decimals. */
export const amount: (wire: Wire, key: string) => Decimal = decimal

export function amountOrNull(wire: Wire, key: string): Decimal | null {
  const value = field(wire, key)
  // Nearly always one, and looked at once.
  if (isPlainDecimal(value)) return value
  return isNothing(value) ? null : amount(wire, key)
}

/** A text that is not the "null" of an empty element. */
export function textOf(wire: Wire, key: string): string | null {
  return isNothing(field(wire, key)) ? null : text(wire, key)
}

/** Display text. */
export function displayTextOf(wire: Wire, key: string): string | null {
  return isNothing(field(wire, key)) ? null : displayTextOrNull(wire, key)
}
