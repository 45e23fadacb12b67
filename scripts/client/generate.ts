// `npm run generate`: writes what the client takes from the service's own documents.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { asyncApi } from '../../packages/server/src/http/docs/asyncapi.ts'
import { failureCodes, openApi, statusOf } from '../../packages/server/src/http/docs/openapi.ts'
import { ENDPOINTS } from '../../packages/server/src/http/routes/index.ts'
import { operationText } from './operations.ts'
import { outFolder } from './out.ts'
import { RESOURCES } from './resources.ts'
import { comment, declaration, type Schema, typeOf } from './schema-types.ts'

const USAGE = `npm run generate -- [--out FOLDER]

Writes the types and operations of the client from the documents that the service serves.
  --out  a folder; default packages/client/src/generated
`
const FOLDER = resolve(import.meta.dirname, '..', '..', 'packages/client/src/generated')
/** Only addresses in the documents depend on it, and none of them is generated. */
const ANY_URL = 'http://127.0.0.1'
const HEAD = (document: string) => `// Generated from ${document} of the service by \`npm run generate\`. Never edited.\n`

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description: string
  readonly schema: Schema
}
interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}
interface Described {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly [Readonly<Record<string, unknown>>]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly headers?: Readonly<Record<string, unknown>> }>>
}
type Schemas = Readonly<Record<string, Schema>>
interface RestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Schemas }
}
interface StreamDocument {
  readonly components: { readonly schemas: Schemas; readonly messages: Readonly<Record<string, { readonly payload: Schema }>> }
  readonly operations: Readonly<Record<string, { readonly action: string; readonly messages: readonly { readonly $ref: string }[] }>>
}

function rest(document: RestDocument): string {
  const { schemas } = document.components
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  const sent = new Set(operations.flatMap(({ operation }) => nameOf(operation.requestBody) ?? []))
  return [
    HEAD('/openapi.json'),
    "import type { Operation, Resource } from '../operation.ts'\n",
    ...Object.entries(schemas).map(([name, schema]) => declaration(name, schema, sent.has(name) || name === 'NewLeg')),
    `/** The codes of the service's errors. Later versions may add some. */\nexport type ErrorCode = Problem['code']\n`,
    ...operations.map(each => operationOf(each, schemas)),
    ...Object.keys(RESOURCES).map(name => resourceOf(name, operations, schemas)),
    refusalsText()
  ].join('\n')
}

interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Described
}

/** One constant for each operation: an unused one is left out of a bundle. */
function operationOf({ path, method, operation }: Placed, schemas: Schemas): string {
  const { operationId, summary, security, parameters, requestBody } = operation
  const answer = answerOf(operation)
  const auth = 'userSecret' in security[0] ? 'user' : 'platform'
  const paging = pagingOf(answer, schemas)
  const shape = [
    `  readonly auth: '${auth}'`,
    `  readonly path: ${parametersOf(parameters, 'path')}`,
    `  readonly query: ${parametersOf(parameters, 'query')}`,
    `  readonly body: ${nameOf(requestBody) ?? 'undefined'}`,
    `  readonly answer: ${typeOf(answer.content['application/json'].schema, '  ', false)}`,
    `  readonly hasPages: ${paging !== null}`
  ].join('\n')
  const name = shapeName(operationId)
  const words = operationText({ path, method, member: memberOf(answer, schemas), paging })
  return [
    `/** Parameters, body and answer of {@link ${operationId}}. */\nexport interface ${name} {\n${shape}\n}`,
    `${comment(summary, '')}export const ${operationId}: Operation<${name}> = '${words}'\n`
  ].join('\n')
}

/** One constant for each resource of the client that is a table. */
function resourceOf(name: string, operations: readonly Placed[], schemas: Schemas): string {
  const [base, methods] = RESOURCES[name] ?? ['', {}]
  const rows = Object.entries(methods).map(([method, id]) => {
    const found = operations.find(({ operation }) => operation.operationId === id)
    if (found === undefined || !found.path.startsWith(base)) throw new Error(`${name} has ${id}, which is no operation below ${base}`)
    const answer = answerOf(found.operation)
    const path = found.path.slice(base.length)
    return `${method}${operationText({ path, method: found.method, member: memberOf(answer, schemas), paging: pagingOf(answer, schemas) })}`
  })
  const shapes = Object.entries(methods).map(([method, id]) => `  readonly ${method.replace('!', '')}: ${shapeName(id)}\n`)
  const text = [base.replaceAll('_id}', '}'), ...rows].join('|')
  return `export const ${name}: Resource<{\n${shapes.join('')}}> =\n  '${text}'\n`
}

function answerOf({ operationId, responses }: Described): Described['responses'][string] {
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  if (answer === undefined) throw new Error(`${operationId} answers nothing`)
  return answer
}

function shapeName(operationId: string): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Call`
}

/** A member that every such answer has, by which another JSON text is recognised: a text, or with `[]` a list of records. */
function memberOf(answer: Described['responses'][string], schemas: Schemas): string {
  const { $ref, type } = answer.content['application/json'].schema
  if (type === 'array') return '[]'
  const { required = [], properties = {} } = schemas[$ref?.replace(/^.*\//, '') ?? ''] ?? {}
  const isList = (name: string) => properties[name]?.type === 'array' && properties[name].items?.type !== 'string'
  const name = (pagingOf(answer, schemas) === null ? undefined : required.find(isList)) ?? required[0] ?? ''
  if (isList(name)) return `${name}[]`
  if (properties[name]?.type !== 'string') throw new Error(`an answer that cannot be recognised: ${$ref}`)
  return name
}

/** Of the endpoints that make orders, and of any address. A refusal that says to wait is none of these. */
function refusalsText(): string {
  const making = ENDPOINTS.filter(endpoint => failureCodes(endpoint).includes('cl_order_id_duplicate'))
  const pairs = making.flatMap(endpoint =>
    [...failureCodes(endpoint), 'route_not_found' as const, 'headers_too_large' as const].map(
      code => [statusOf(endpoint, code), code] as const
    )
  )
  const final = pairs.filter(([status]) => status < 500 && status !== 429)
  const groups = [...Map.groupBy(final, ([status]) => status)]
    .sort(([one], [other]) => one - other)
    .map(([status, group]) => `${status} ${alternatives([...new Set(group.map(([, code]) => code))].sort())}`)
  return [
    '/** Status and code of the refusals of a request for an order, with a space between them. */',
    `export const ORDER_REFUSALS = /^(${groups.join('|')})$/\n`
  ].join('\n')
}

/** Words as a part of an expression: those that end alike share their end. */
function alternatives(words: readonly string[]): string {
  const groups = [...Map.groupBy(words, word => word.slice(word.indexOf('_')))].map(([end, group]) =>
    group.length === 1 ? group.join('') : `(${group.map(word => word.slice(0, -end.length)).join('|')})${end}`
  )
  return groups.length === 1 ? groups.join('') : `(${groups.join('|')})`
}

/** How the next page is named: by a member of the answer, or in its `link` header. */
function pagingOf({ content, headers = {} }: Described['responses'][string], schemas: Schemas): string | null {
  const { $ref = '' } = content['application/json'].schema
  const members = schemas[$ref.replace(/^.*\//, '')]?.properties ?? {}
  return ['next_cursor', 'next_after', 'next_start'].find(name => name in members) ?? ('link' in headers ? 'link' : null)
}

function parametersOf(parameters: readonly Parameter[], place: Parameter['in']): string {
  const own = parameters.filter(parameter => parameter.in === place)
  if (own.length === 0) return 'Readonly<Record<never, never>>'
  const properties = Object.fromEntries(
    own.map(({ name, schema, description }) => [name, { ...schema, description: unencoded(description) }])
  )
  const required = own.flatMap(({ name, required: isRequired }) => (isRequired ? [name] : []))
  return typeOf({ type: 'object', properties, required }, '  ', true)
}

/** The client encodes what it sends. */
function unencoded(description: string): string {
  return description.replace(/; write `\+` as `%2B`/, '').replace(/ ?Write the `\/` of a crypto pair as `%2F`\./, '')
}

function nameOf(body: Content | undefined): string | null {
  return body === undefined ? null : typeOf(body.content['application/json'].schema, '', false)
}

/** To compare records. Only the streams leave theirs open to further fields. */
function fieldsOf(schema: unknown): string {
  return JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' && value === false ? undefined : value))
}

/** Records that both documents have are those of REST. */
function streams({ components: { schemas, messages }, operations }: StreamDocument, known: Schemas): string {
  const shared = Object.keys(schemas).filter(name => name in known)
  for (const name of shared) {
    if (fieldsOf(schemas[name]) !== fieldsOf(known[name])) throw new Error(`the two documents describe ${name} differently`)
  }
  const namesOf = (action: string) => {
    const chosen = Object.values(operations).filter(operation => operation.action === action)
    return [...new Set(chosen.flatMap(operation => operation.messages.map(({ $ref }) => $ref.replace(/^.*\//, ''))))]
  }
  const sent = namesOf('receive')
  const own = Object.entries(schemas).filter(([name]) => !(name in known))
  const used = shared.filter(name => name in messages || JSON.stringify(own).includes(`/schemas/${name}"`))
  return [
    HEAD('/asyncapi.json'),
    `import type { ${used.sort().join(', ')} } from './openapi.ts'\n`,
    ...own.map(([name, schema]) => declaration(name, schema, sent.includes(name))),
    `/** What a client sends. */\nexport type ClientMessage = ${sent.join(' | ')}\n`,
    `/** What the service sends. */\nexport type ServiceMessage = ${Object.keys(messages)
      .filter(name => !sent.includes(name))
      .join(' | ')}\n`
  ].join('\n')
}

const folder = outFolder(USAGE, FOLDER)
if (folder !== null) {
  const restDocument: RestDocument = JSON.parse(JSON.stringify(openApi(ENDPOINTS, ANY_URL)))
  const streamDocument: StreamDocument = JSON.parse(JSON.stringify(asyncApi(ANY_URL)))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'openapi.ts'), rest(restDocument))
  writeFileSync(join(folder, 'asyncapi.ts'), streams(streamDocument, restDocument.components.schemas))
}
