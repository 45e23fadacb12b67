// Path and query parameters. One definition holds the documentation and the parser of each.
import type { Brand } from '@trunkline/core/domain/brand'
import { type ErrorCode, type ErrorDetail, ServiceError } from '@trunkline/core/domain/errors'
import {
  type AccountId,
  type BrokerId,
  type ClOrdId,
  type ConnectionId,
  type OrderId,
  parseBrokerId,
  parseClOrdId,
  parseUserId,
  parseUuid
} from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import { type Day, parseDay, type Timestamp } from '@trunkline/core/domain/timestamp'
import Type, { type TSchema } from 'typebox'
import { parseClientTime } from '../wire/client-time.ts'
import { day, UUID_PATTERN } from '../wire/common.ts'
import { type QueryTexts, REPEATED } from './query-text.ts'

/** One parameter: its documentation and its parser. */
export interface Param<T> {
  readonly description: string
  readonly schema: TSchema
  /** An example for the reference. */
  readonly example: string
  /** For query parameters. A path parameter is always required. */
  readonly required?: true
  /** @throws Malformed naming `name`. */
  read(text: string, name: string): T
}

export type Params = Readonly<Record<string, Param<unknown>>>
type ValueOf<P> = P extends Param<infer T> ? T : never
/** The values of a query. Absent parameters are undefined. */
export type QueryValues<P extends Params> = {
  readonly [K in keyof P]: ValueOf<P[K]> | (P[K] extends { readonly required: true } ? never : undefined)
}
/** The values of a path. */
export type PathValues<P extends Params> = { readonly [K in keyof P]: ValueOf<P[K]> }

/** @throws ServiceError query_invalid for an unknown, repeated or ill-formed parameter. */
export function readQuery<P extends Params>(params: P, given: QueryTexts): QueryValues<P> {
  const values: Record<string, unknown> = {}
  const complaints: ErrorDetail[] = []
  for (const name in given) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    const text = given[name]
    if (param === undefined) complaints.push({ path: name.slice(0, 64), message: `is not a parameter of this request${knownOnes(params)}` })
    else if (typeof text !== 'string')
      complaints.push({ path: name, message: text === REPEATED ? 'is given more than once' : 'is not percent-encoded UTF-8' })
    else values[name] = attempt(param, text, name, complaints)
    if (complaints.length >= DETAILS_MAX) break
  }
  for (const name in params) {
    if (params[name]?.required === true && given[name] === undefined) complaints.push({ path: name, message: 'is required' })
  }
  refuse('query_invalid', complaints)
  return values as QueryValues<P>
}

/** @throws ServiceError path_invalid. */
export function readPath<P extends Params>(params: P, given: Readonly<Record<string, unknown>>): PathValues<P> {
  const values: Record<string, unknown> = {}
  const complaints: ErrorDetail[] = []
  for (const [name, param] of Object.entries(params)) values[name] = attempt(param, String(given[name]), name, complaints)
  refuse('path_invalid', complaints)
  return values as PathValues<P>
}

const DETAILS_MAX = 20

function attempt(param: Param<unknown>, text: string, name: string, complaints: ErrorDetail[]): unknown {
  try {
    return param.read(text, name)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    complaints.push({ path: name, message: error.message.slice(name.length + 1) })
    return undefined
  }
}

function refuse(code: ErrorCode, details: readonly ErrorDetail[]): void {
  const [first] = details
  if (first !== undefined) throw new ServiceError(code, `${first.path} ${first.message}.`, { details })
}

function knownOnes(params: Params): string {
  const names = Object.keys(params)
  return names.length === 0 ? '; it takes none' : `; it takes ${names.join(', ')}`
}

/** Makes a query parameter required. */
export function required<T>(param: Param<T>): Param<T> & { readonly required: true } {
  return { ...param, required: true }
}

/** An identifier that the service assigned. */
function uuid<Id extends Brand<string, string>>(description: string, example = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'): Param<Id> {
  return {
    description,
    schema: Type.String({ format: 'uuid', pattern: UUID_PATTERN }),
    example,
    read: (text, name) => parseUuid<Id>(text, name)
  }
}

/** An identifier in the path. */
export function uuidInPath<Id extends Brand<string, string>>(description: string, example?: string): Param<Id> {
  return uuid<Id>(description, example)
}

/** Those of the records that the reference shows. */
const EXAMPLE = {
  account: '01a1fc40-b2f4-7000-a2c1-0d5e7b9c1a11',
  connection: '01a1fc40-b2f0-7000-9d3e-4a6b8c0d2e22',
  order: '01a1fc40-bac8-7000-9fad-169d6cee0b61'
}

export const accountIdParam = uuid<AccountId>('Only this account.', EXAMPLE.account)
export const connectionIdParam = uuid<ConnectionId>('Only this connection.', EXAMPLE.connection)
export const accountIdInPath = uuid<AccountId>('The account of the order.', EXAMPLE.account)
export const connectionIdInPath = uuid<ConnectionId>('The connection.', EXAMPLE.connection)
export const orderIdInPath = uuid<OrderId>('The order, by the `order_id` that the service assigned.', EXAMPLE.order)

export const orderIdParam = uuid<OrderId>('Only this order.', EXAMPLE.order)

export const clOrderIdParam: Param<ClOrdId> = {
  description: 'Only orders with this `cl_order_id`. There is at most one for each trading day.',
  schema: Type.String({ minLength: 1, maxLength: 64 }),
  example: 'rebalance-2026-11-21-1',
  read: parseClOrdId
}

export const userIdParam = {
  description: 'The platform’s own id of the user: 1 to 64 characters, no control characters, no leading or trailing space.',
  schema: Type.String({ minLength: 1, maxLength: 64 }),
  example: 'ada',
  read: parseUserId
} satisfies Param<unknown>

export const brokerParam: Param<BrokerId> = {
  description: 'Only this broker.',
  schema: Type.String({ pattern: '^[A-Z][A-Z0-9_]{1,31}$' }),
  example: 'SANDBOX',
  read: parseBrokerId
}

/** One of a closed list of values. */
export function oneOf<const Value extends string>(values: readonly Value[], description: string, fallback?: Value): Param<Value> {
  return {
    description,
    schema: Type.Unsafe<Value>({ type: 'string', enum: values, ...(fallback !== undefined && { default: fallback }) }),
    example: values[0] ?? '',
    read(text, name) {
      const value = values.find(known => known === text)
      if (value === undefined) throw new Malformed(name, `one of ${values.join(', ')}`, text)
      return value
    }
  }
}

/** An integer in plain digits, without a sign and without leading zeros. */
export function integer(
  { minimum, maximum, fallback }: { minimum: number; maximum: number; fallback: number },
  description: string
): Param<number> {
  return {
    description,
    schema: Type.Integer({ minimum, maximum, default: fallback }),
    example: String(fallback),
    read(text, name) {
      const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= minimum && value <= maximum)) throw new Malformed(name, `a whole number from ${minimum} to ${maximum}`, text)
      return value
    }
  }
}

export function time(description: string, example = '2026-11-21T14:30:00Z'): Param<Timestamp> {
  return {
    description: `${description} RFC 3339 with seconds and an offset (\`Z\`, \`-05:00\`); write \`+\` as \`%2B\`.`,
    schema: Type.String({ format: 'date-time' }),
    example,
    read: parseClientTime
  }
}

export function date(description: string, example = '2026-11-20'): Param<Day> {
  return { description, schema: day, example, read: parseDay }
}

/** Printable text that is compared exactly. */
export function plainText(lengthMax: number, description: string, example: string): Param<string> {
  return {
    description,
    schema: Type.String({ minLength: 1, maxLength: lengthMax }),
    example,
    read(text, name) {
      if (text.length >= 1 && text.length <= lengthMax && !/\p{C}/u.test(text)) return text
      throw new Malformed(name, `1 to ${lengthMax} printable characters`, text)
    }
  }
}

/** A cursor of a list that is read in one direction. */
export function cursorParam(description: string): Param<string> {
  return plainText(2_048, description, 'WyIyMDI2LTExLTIxIl0.kqT0v3m1…')
}

const SYMBOLS_MAX = 100

/** Comma-separated symbols, each normalised to the API's format. */
export const symbolsParam: Param<readonly string[]> = {
  description: `Only these symbols, separated by commas, at most ${SYMBOLS_MAX}. Write the \`/\` of a crypto pair as \`%2F\`.`,
  schema: Type.String(),
  example: 'AAPL,BTC%2FUSD',
  read(text, name) {
    const symbols = text.split(',', SYMBOLS_MAX + 1)
    if (symbols.length > SYMBOLS_MAX) throw new Malformed(name, `at most ${SYMBOLS_MAX} symbols`, text)
    return symbols.map(symbol => readSymbol(symbol, name))
  }
}

function readSymbol(text: string, name: string): string {
  try {
    return formatSymbol(parseSymbol(text))
  } catch (error) {
    throw error instanceof Malformed ? new Malformed(name, `symbols separated by commas, each ${error.expected}`, text) : error
  }
}

export interface Sort<Field extends string> {
  readonly field: Field
  readonly descending: boolean
}

/** `field:direction`, one field only. */
export function sort<const Field extends string>(fields: readonly Field[], fallback: Field): Param<Sort<Field>> {
  const values = fields.flatMap(field => [`${field}:asc`, `${field}:desc`])
  return {
    description: 'The sort order, as `field:direction`.',
    schema: Type.Unsafe<string>({ type: 'string', enum: values, default: `${fallback}:desc` }),
    example: `${fallback}:desc`,
    read(text, name) {
      const [value, direction] = text.split(':', 2)
      const field = fields.find(known => known === value)
      if (field === undefined || !values.includes(text)) throw new Malformed(name, `one of ${values.join(', ')}`, text)
      return { field, descending: direction === 'desc' }
    }
  }
}
