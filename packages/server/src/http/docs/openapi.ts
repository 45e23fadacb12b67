// The OpenAPI document, generated from the endpoint definitions.
import { ERROR_CODES, type ErrorCode } from '@trunkline/core/domain/errors'
import { problem } from '../../wire/common.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Params } from '../params.ts'
import { HTTP_STATUS } from '../problems.ts'
import { ANSWERS } from './answer-examples.ts'
import { Components, type Description, type Json, json } from './components.ts'
import { problemExample } from './problem-examples.ts'

const TAGS = {
  Users: 'The platform’s end users.',
  Connections: 'Broker logins of a user.',
  Accounts: 'A user’s accounts as the broker reports them.',
  Orders: 'Placing, reading, modifying and cancelling orders.',
  Events: 'The log of every update that the broker stream sent.',
  Webhooks: 'Endpoints that receive the same updates by HTTP, and what was sent to them.',
  Brokers: 'The available brokers and their capabilities.',
  'Market data': 'Single reads of market data from the user’s broker. To receive changes, use the market data stream.'
} as const satisfies Record<Endpoint['tag'], string>

const INTRODUCTION = `One API over many brokers.

Money and quantities are strings in plain decimal notation. Times are UTC with microseconds. A value that the broker does not report is
\`null\`. Every operation names the scope that its key needs: \`read\`, \`trade\` or \`users\`. Every path is also served under \`/v1\`. Every
GET also answers HEAD, except the one that issues a token. Every error is a \`Problem\` with a stable \`code\`. Every response carries
\`x-request-id\`: yours, if you sent one. Every response to a request that was counted carries the \`ratelimit-\` headers, errors too; refused
credentials are not counted. Lists refuse unknown parameters. Cursors are opaque, and valid only for the list, filters and sort
that they came from.`

/** The whole document, for the service at `publicUrl`. */
export function openApi(endpoints: readonly Endpoint[], publicUrl: string): Description {
  const components = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, components) }
  }
  const error = components.reference(problem)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunkline REST API',
      version: '1.0.0',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
    },
    servers: [{ url: publicUrl, description: 'This service' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: errorResponses(error, endpoints),
      schemas: components.schemas
    }
  }
}

const SECURITY_SCHEMES = {
  clientId: header('client-id', 'The platform’s client id.'),
  clientSecret: header('client-secret', 'The platform’s client secret.'),
  userId: header('user-id', 'The user the request is for.'),
  userSecret: header('user-secret', 'The user’s secret.')
}

const HEADERS = {
  RequestId: { description: 'Identifies this request in logs. It is the client’s own id if it sent one.', schema: { type: 'string' } },
  RateLimitLimit: { description: 'Requests allowed in one burst.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests allowed at this moment.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until a full burst is allowed again.', schema: { type: 'integer' } },
  Allow: { description: 'Methods that this address accepts.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before trying again.', schema: { type: 'integer' } }
}

const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
const RATE_LIMIT = {
  'ratelimit-limit': { $ref: '#/components/headers/RateLimitLimit' },
  'ratelimit-remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'ratelimit-reset': { $ref: '#/components/headers/RateLimitReset' }
}
const ALLOW = { allow: { $ref: '#/components/headers/Allow' } }
const RETRY = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

function header(name: string, description: string): Json {
  return { type: 'apiKey', in: 'header', name, description }
}

function operation(endpoint: Endpoint, components: Components): Json {
  const { operationId, tag, summary, description, scope, auth, params, query, body, bodyExample, success, deprecation } = endpoint
  return {
    operationId,
    ...(deprecation !== undefined && { deprecated: true, 'x-sunset': deprecation.until }),
    tags: [tag],
    summary,
    description: [deprecation?.instead, description, `Needs a key with the scope \`${scope}\`.`]
      .filter(text => text !== undefined)
      .join(' '),
    security: [auth === 'user' ? { clientId: [], clientSecret: [], userId: [], userSecret: [] } : { clientId: [], clientSecret: [] }],
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body !== null && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: components.reference(body), ...(bodyExample !== undefined && { example: json(bodyExample) }) }
        }
      }
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...REQUEST_ID, ...RATE_LIMIT, ...own(success.headers) },
        content: { 'application/json': { schema: components.reference(success.schema), ...exampleOf(operationId) } }
      },
      ...failures(endpoint)
    }
  }
}

function exampleOf(operationId: string): Description {
  const example = ANSWERS[operationId]
  return example === undefined ? {} : { example: json(example) }
}

function own(headers: Endpoint['success']['headers'] = {}): Description {
  return Object.fromEntries(Object.entries(headers).map(([name, { description, schema }]) => [name, { description, schema: json(schema) }]))
}

/** The parameters of an operation, as OpenAPI has them. */
export function parameters(params: Params, place: 'path' | 'query'): readonly Json[] {
  return Object.entries(params).map(([name, { description, schema, example, required = false }]) => ({
    name,
    in: place,
    required: required || place === 'path',
    description,
    schema: json(schema),
    example: 'type' in schema && schema.type === 'integer' ? Number(example) : decodeURIComponent(example)
  }))
}

/** The error codes that an endpoint can return. */
export function failureCodes({ method, params, body, failures = [] }: Endpoint): readonly ErrorCode[] {
  return [
    'credentials_invalid',
    'header_invalid',
    'scope_missing',
    'method_not_allowed',
    ...failures,
    ...(Object.keys(params).length > 0 ? (['path_invalid'] as const) : []),
    'query_invalid',
    ...(body !== null ? (['field_invalid'] as const) : []),
    ...(method === 'GET' ? (['broker_unavailable'] as const) : (['body_malformed', 'body_too_large'] as const)),
    'rate_limited',
    'internal',
    'store_unavailable',
    'shutting_down'
  ]
}

function failures(endpoint: Endpoint): { readonly [status: string]: Json } {
  const statuses = failureCodes(endpoint).map(code => statusOf(endpoint, code))
  return Object.fromEntries([...new Set(statuses)].sort().map(status => [status, { $ref: `#/components/responses/Problem${status}` }]))
}

/** The status with which an endpoint returns an error code. */
export function statusOf({ statusOverrides }: Endpoint, code: ErrorCode): number {
  return statusOverrides?.[code] ?? HTTP_STATUS[code]
}

/** The error codes that any of the endpoints returns with this status. */
function codesOf(endpoints: readonly Endpoint[], status: number): readonly ErrorCode[] {
  return ERROR_CODES.filter(code =>
    endpoints.some(endpoint => failureCodes(endpoint).includes(code) && statusOf(endpoint, code) === status)
  )
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The path or body is malformed, or a value is not valid.',
  401: 'The credentials are missing or invalid, or do not allow this.',
  404: 'The resource does not exist.',
  405: 'The address does not accept this method; `Allow` lists the ones it accepts.',
  409: 'The resource exists already, or the connection is BROKEN.',
  413: 'The body is larger than 256 KiB.',
  422: 'A query parameter is unknown or not valid.',
  429: 'Too many requests.',
  500: 'Something unexpected went wrong.',
  503: 'The broker or the database does not respond.'
}

function errorResponses(schema: Json, endpoints: readonly Endpoint[]): Json {
  return Object.fromEntries(
    Object.entries(MEANINGS).map(([status, description]) => [
      `Problem${status}`,
      {
        description,
        headers: {
          ...REQUEST_ID,
          // A wrong method is refused before the request is counted.
          ...(status !== '405' && RATE_LIMIT),
          ...(['429', '503'].includes(status) && RETRY),
          ...(status === '405' && ALLOW)
        },
        content: { 'application/json': { schema, examples: problemExamples(codesOf(endpoints, Number(status))) } }
      }
    ])
  )
}

function problemExamples(codes: readonly ErrorCode[]): Json {
  return Object.fromEntries(codes.map(code => [code, { value: json(problemExample(code)) }]))
}
