// What the console takes from the service's own document of the operators' API: the records, and what can be read with which filters.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { operatorApi } from '../../packages/server/src/operators/openapi.ts'
import { OPERATIONS } from '../../packages/server/src/operators/routes/index.ts'
import { outFolder } from '../client/out.ts'
import { comment, declaration, type Schema, typeOf } from '../client/schema-types.ts'

const USAGE = `node scripts/run.mjs scripts/console/generate.ts [--out FOLDER]

Writes the types of the console from the document that the service serves.
  --out  a folder; default packages/console/src/generated
`
export const GENERATED = resolve(import.meta.dirname, '..', '..', 'packages/console/src/generated')
/** Only addresses in the document depend on it, and none of them is generated. */
const ANY_URL = 'http://127.0.0.1'

type Content = { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
interface Described {
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: 'path' | 'query' }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Writes the types into a folder. */
export function generate(folder: string): void {
  const { paths, components }: Document = JSON.parse(JSON.stringify(operatorApi(OPERATIONS, ANY_URL)))
  const sent = sentNames(paths, components.schemas)
  const text = [
    '// Generated from /admin/v1/openapi.json of the service by `npm run console`. Never edited.\n',
    ...Object.entries(components.schemas).map(([name, schema]) => declaration(name, schema, sent.has(name))),
    '/** What can be read, by its path below `/admin/v1`: the names of its parts and filters, and its answer. */',
    `export interface Reads {\n${Object.entries(paths).flatMap(readOf).join('')}}\n`,
    '/** What can be changed, by its method and path: the names of its parts, its body, and its answer. */',
    `export interface Changes {\n${Object.entries(paths).flatMap(changesOf).join('')}}\n`
  ].join('\n')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'admin.ts'), text)
}

/** The schemas of requests, and those in them: what is undefined there is not sent. */
function sentNames(paths: Document['paths'], schemas: Document['components']['schemas']): ReadonlySet<string> {
  const names = new Set<string>()
  const add = (within: unknown) => {
    for (const [, name = ''] of JSON.stringify(within ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      add(schemas[name])
    }
  }
  for (const { requestBody } of Object.values(paths).flatMap(Object.values)) add(requestBody)
  return names
}

type AtPath = readonly [path: string, methods: Readonly<Record<string, Described>>]

function readOf([path, { get }]: AtPath): readonly string[] {
  if (get === undefined) return []
  return [member(path, get, { parts: namesOf(get, 'path'), filters: namesOf(get, 'query'), answer: answerOf(get) })]
}

function changesOf([path, methods]: AtPath): readonly string[] {
  return Object.entries(methods).flatMap(([method, described]) => {
    if (method === 'get') return []
    const { requestBody } = described
    const body = requestBody === undefined ? 'undefined' : typeOf(requestBody.content['application/json'].schema, '    ', true)
    return [member(`${method.toUpperCase()} ${path}`, described, { parts: namesOf(described, 'path'), body, answer: answerOf(described) })]
  })
}

function member(name: string, { summary }: Described, types: Readonly<Record<string, string>>): string {
  const members = Object.entries(types).map(([each, type]) => `    readonly ${each}: ${type}\n`)
  return `${comment(summary, '  ')}  readonly '${name}': {\n${members.join('')}  }\n`
}

function namesOf({ parameters }: Described, place: 'path' | 'query'): string {
  const own = parameters.filter(parameter => parameter.in === place).map(({ name }) => `'${name}'`)
  return own.length === 0 ? 'never' : own.join(' | ')
}

function answerOf({ responses }: Described): string {
  const answer = responses['200'] ?? responses['201']
  if (answer === undefined) throw new Error('an operation answers nothing')
  return typeOf(answer.content['application/json'].schema, '    ', false)
}

if (process.argv[1] === import.meta.filename) {
  const folder = outFolder(USAGE, GENERATED)
  if (folder !== null) generate(folder)
}
