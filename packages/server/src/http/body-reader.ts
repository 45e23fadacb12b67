import type { ErrorDetail } from '@trunkline/core/domain/errors'
import { ServiceError } from '@trunkline/core/domain/errors'
import { shown } from '@trunkline/core/domain/malformed'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

const DETAILS_MAX = 20

/** Validates a body against a compiled schema. */
export interface BodyReader<T> {
  /** @throws ServiceError field_invalid naming each invalid field (20 at most), or body_malformed if there is no body. */
  read(body: unknown): T
}

/** Compiles the schema once. A valid body is returned unchanged: no coercion, no defaults, no removed fields. */
export function bodyReader<T>(schema: TSchema): BodyReader<T> {
  const validator = Compile(schema)
  const fits = (body: unknown): body is T => validator.Check(body)
  return {
    read(body) {
      if (fits(body)) return body
      if (body === undefined)
        throw new ServiceError('body_malformed', 'A JSON body is required, with the header content-type: application/json.')
      throw refusal(schema, validator.Errors(body), body)
    }
  }
}

interface SchemaError {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

function refusal(schema: TSchema, errors: readonly SchemaError[], body: unknown): ServiceError {
  const details = distinct(errors.flatMap(error => detailsOf(schema, error, body))).slice(0, DETAILS_MAX)
  const first = details[0] ?? { path: '', message: 'is not valid for this request' }
  const more = details.length > 1 ? ` ${details.length - 1} more in details.` : ''
  return new ServiceError('field_invalid', `${first.path === '' ? 'The body' : first.path} ${first.message}.${more}`, { details })
}

/** Length and form of one value are two rules with one message. */
function distinct(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  return details.filter(
    ({ path, message }, index) => details.findIndex(other => other.path === path && other.message === message) === index
  )
}

function detailsOf(schema: TSchema, error: SchemaError, body: unknown): readonly ErrorDetail[] {
  const path = pathOf(error.instancePath)
  switch (error.keyword) {
    case 'boolean':
      // This is the `false` of additionalProperties. The error of that keyword reports it, with all the names.
      return []
    case 'required':
      return names(error.params, 'requiredProperties').map(name => ({ path: joined(path, name), message: 'is required' }))
    case 'additionalProperties': {
      const known = namesIn(at(schema, `${error.schemaPath}/properties`))
      return names(error.params, 'additionalProperties').map(name => ({
        path: joined(path, name.slice(0, 64)),
        message: `is not a field of this request; it takes ${known.length === 0 ? 'none' : known.join(', ')}`
      }))
    }
    default: {
      const wanted = expected(at(schema, error.schemaPath))
      const message = wanted === undefined ? error.message : `must be ${wanted}`
      return [{ path, message: `${message}, was ${found(body, error.instancePath)}` }]
    }
  }
}

/** What a schema expects, as text: `x-expected` if the schema has it, else its list of values. */
function expected(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  if ('x-expected' in schema && typeof schema['x-expected'] === 'string') return schema['x-expected']
  if ('enum' in schema && Array.isArray(schema.enum)) return `one of ${schema.enum.filter(value => value !== null).join(', ')}`
  if ('type' in schema && schema.type === 'object') return 'an object'
  return undefined
}

function found(body: unknown, pointer: string): string {
  const value = at(body, pointer)
  // The contents of a list or object would be noise in a message.
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : shown(value)
}

/** The value at a JSON pointer, with or without a leading `#`; undefined if absent. */
function at(value: unknown, pointer: string): unknown {
  let current = value
  for (const step of stepsOf(pointer)) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.entries(current).find(([key]) => key === step)?.[1]
  }
  return current
}

function stepsOf(pointer: string): readonly string[] {
  return pointer
    .replace(/^#/, '')
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function pathOf(pointer: string): string {
  return stepsOf(pointer).join('.')
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function names(params: object, key: string): readonly string[] {
  const list: unknown = Object.entries(params).find(([name]) => name === key)?.[1]
  return Array.isArray(list) ? list.map(String) : []
}

function namesIn(properties: unknown): readonly string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}
