/** Building blocks of requests to brokers. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { HttpRequest } from './http.ts'

/** Names and values alternating. */
export const NO_BODY = ['accept', 'application/json'] as const
export const WITH_BODY = ['accept', 'application/json', 'content-type', 'application/json'] as const

const FORM = ['accept', 'application/json', 'content-type', 'application/x-www-form-urlencoded'] as const

export type Query = Readonly<Record<string, string | null>>

/** URL-encoded, for a query or a form; null values are left out. */
export function encoded(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== null) parameters.set(name, value)
  return parameters.toString()
}

/** A read; null values of the query are left out. */
export function get(path: string, query: Query = {}): HttpRequest {
  const search = encoded(query)
  return { method: 'GET', path: `${path}${search === '' ? '' : `?${search}`}`, headers: NO_BODY }
}

/** A request with a URL-encoded form; null values are left out. */
export function form(method: 'POST' | 'PUT', path: string, fields: Query): HttpRequest {
  return { method, path, headers: FORM, body: encoded(fields) }
}

/** The broker's value for a value of the core, from a table of broker values to core values; undefined when it has none. */
export function brokerValueOf(table: Readonly<Record<string, string>>, value: string): string | undefined {
  return Object.keys(table).find(key => table[key] === value)
}

/** @throws Malformed for a value that the broker does not have; `what` is our name of the field. */
export function requireBrokerValue(table: Readonly<Record<string, string>>, value: string, what: string): string {
  const found = brokerValueOf(table, value)
  if (found !== undefined) return found
  throw new Malformed(what, `one of ${Object.values(table).join(', ')}`, value)
}
