/** Building blocks of requests to brokers. Pure. */

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

/** A request with a JSON body. */
export function json(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): HttpRequest {
  return { method, path, headers: WITH_BODY, body: JSON.stringify(body) }
}

export function remove(path: string): HttpRequest {
  return { method: 'DELETE', path, headers: NO_BODY }
}
