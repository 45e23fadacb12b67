/** Reads queries and forms. Invalid values are answered as text, as Tradier does. */

import { type Fault, Problem } from '../frame/brokerage.ts'

export type Form = Readonly<Record<string, string>>

const LIMIT_MAX = 1_000

/** @throws Problem that is answered as text */
export function bad(name: string, what: string): never {
  throw new Problem('bad_request', `Invalid parameter, ${name}: ${what}.`)
}

/** @throws Problem */
export function required(form: Form, name: string): string {
  const given = form[name]
  return given === undefined || given === '' ? bad(name, 'is required') : given
}

/** @throws Problem */
export function member<const Value extends string>(form: Form, name: string, values: readonly Value[]): Value {
  const given = required(form, name)
  return values.find(value => value === given) ?? bad(name, `must be one of ${values.join(', ')}, was ${given.slice(0, 40)}`)
}

/** Programs write `true` as their language does. */
export function isTrue(text: string | undefined): boolean {
  return text?.toLowerCase() === 'true'
}

/** One page by `page` and `limit`; empty behind the last. A fault can have it be the one after. @throws Problem */
export function pageOf<Item>(items: readonly Item[], query: Form, otherwise: number, fault: Fault | undefined): readonly Item[] {
  const limit = whole(query, 'limit', otherwise, LIMIT_MAX)
  const requested = whole(query, 'page', 1, Number.MAX_SAFE_INTEGER)
  const page = fault?.do === 'lose_page' && fault.page === requested ? requested + 1 : requested
  return items.slice((page - 1) * limit, page * limit)
}

function whole(query: Form, name: string, otherwise: number, most: number): number {
  const given = query[name]
  if (given === undefined) return otherwise
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  return value >= 1 ? Math.min(value, most) : bad(name, 'must be a whole number from 1')
}
