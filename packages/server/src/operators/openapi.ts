// The OpenAPI document of the API for operators, generated from its operations.
import { operatorUnknown } from '@trunkline/core/app/operators/access'
import type { ErrorCode } from '@trunkline/core/domain/errors'
import { Components, type Description, type Json, json } from '../http/docs/components.ts'
import { parameters } from '../http/docs/openapi.ts'
import { problemExample } from '../http/docs/problem-examples.ts'
import { HTTP_STATUS } from '../http/problems.ts'
import { problem } from '../wire/common.ts'
import { OPERATOR_TAGS, type Operation, STATUSES } from './endpoint.ts'
import { PREFIX } from './serve.ts'

const INTRODUCTION = `What the console shows, for other programs of operators as well.

A program sends a key (\`npm run cli -- operator key create\`) as \`authorization: Bearer …\`. A browser has a session's cookie, which the exchange of a
code sets (\`npm run cli -- operator link\`). Requests that are not GET, with a cookie, need the headers \`origin\` (the service's own) and
\`x-trunkline-operator: 1\`. Every operation names the scope that it needs: \`read\`, \`manage\` or \`sandbox\`; none implies another. Credentials of
platforms are not looked at here, and those of operators nowhere else. Changes are written to the audit log with the operator's name, in the
transaction of the change; reads are counted there, by operation. An operation that changes something says what a repetition does. After an answer that
was lost, and after \`internal\`, read before you repeat one.`

export function operatorApi(operations: readonly Operation[], publicUrl: string): Description {
  const components = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const served of operations) {
    const path = served.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [served.method.toLowerCase()]: operationOf(served, components) }
  }
  const error = components.reference(problem)
  const codes = [...new Set(operations.flatMap(codesOf))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunkline API for operators',
      version: '1.0.0',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
    },
    servers: [{ url: `${publicUrl}${PREFIX}`, description: 'This service' }],
    tags: Object.entries(OPERATOR_TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'trunkline-operator',
          description: 'Behind https `__Host-trunkline-operator`; else the name ends with the port.'
        },
        key: { type: 'http', scheme: 'bearer', description: 'A key of an operator.' }
      },
      responses: Object.fromEntries(statusesOf(codes).map(status => [`Problem${status}`, answer(status, error, codes)])),
      schemas: components.schemas
    }
  }
}

function operationOf(served: Operation, components: Components): Json {
  const { operationId, tag, summary, description, scope, anyScope, access, params, query, body, bodyExample, success } = served
  const needs = access === 'open' ? 'Needs no credentials.' : anyScope === true ? 'Needs any scope.' : `Needs the scope \`${scope}\`.`
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, needs].filter(text => text !== undefined).join(' '),
    security: access === 'open' ? [] : [{ session: [] }, { key: [] }],
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body !== null && {
      requestBody: { required: true, content: { 'application/json': { schema: components.reference(body), example: json(bodyExample) } } }
    }),
    responses: {
      [success.status]: {
        description: success.description,
        content: { 'application/json': { schema: components.reference(success.schema) } }
      },
      ...Object.fromEntries(statusesOf(codesOf(served)).map(status => [status, { $ref: `#/components/responses/Problem${status}` }]))
    }
  }
}

/** The error codes that an operation can return. */
function codesOf({ method, params, body, access, failures = [] }: Operation): readonly ErrorCode[] {
  return [
    'credentials_invalid',
    'header_invalid',
    ...(access === 'open' ? [] : (['scope_missing'] as const)),
    'method_not_allowed',
    ...failures,
    ...(Object.keys(params).length > 0 ? (['path_invalid'] as const) : []),
    'query_invalid',
    ...(body !== null ? (['field_invalid'] as const) : []),
    ...(method === 'GET' ? [] : (['body_malformed', 'body_too_large'] as const)),
    'rate_limited',
    'internal',
    'store_unavailable',
    'shutting_down'
  ]
}

/** As they are here: the platform API's have its headers and scopes. */
const MESSAGES: { readonly [code in ErrorCode]?: string } = {
  credentials_invalid: operatorUnknown().message,
  header_invalid: 'The request needs the headers origin: https://trade.example.com and x-trunkline-operator: 1.',
  scope_missing: 'This needs the scope manage; yours are read.'
}

function exampleOf(code: ErrorCode): object {
  const message = MESSAGES[code]
  return { ...problemExample(code), ...(message !== undefined && { message }) }
}

function statusesOf(codes: readonly ErrorCode[]): readonly number[] {
  return [...new Set(codes.map(statusOf))].sort((a, b) => a - b)
}

function statusOf(code: ErrorCode): number {
  return STATUSES[code] ?? HTTP_STATUS[code]
}

function answer(status: number, schema: Json, codes: readonly ErrorCode[]): Json {
  const examples = Object.fromEntries(codes.filter(code => statusOf(code) === status).map(code => [code, { value: json(exampleOf(code)) }]))
  return { description: 'An error; its `code` says which.', content: { 'application/json': { schema, examples } } }
}
