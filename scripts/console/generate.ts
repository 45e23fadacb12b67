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

interface Described {
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: 'path' | 'query' }[]
  readonly responses: Readonly<Record<string, { readonly content: { readonly 'application/json': { readonly schema: Schema } } }>>
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Described }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Writes the types into a folder. */
export function generate(folder: string): void {
  const { paths, components }: Document = JSON.parse(JSON.stringify(operatorApi(OPERATIONS, ANY_URL)))
  const text = [
    '// Generated from /admin/v1/openapi.json of the service by `npm run console`. Never edited.\n',
    ...Object.entries(components.schemas).map(([name, schema]) => declaration(name, schema, false)),
    '/** What can be read, by its path below `/admin/v1`: the names of its parts and filters, and its answer. */',
    `export interface Reads {\n${Object.entries(paths).flatMap(readOf).join('')}}\n`
  ].join('\n')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'admin.ts'), text)
}

function readOf([path, { get }]: readonly [string, { readonly get?: Described }]): readonly string[] {
  if (get === undefined) return []
  const names = (place: 'path' | 'query') => {
    const own = get.parameters.filter(parameter => parameter.in === place).map(({ name }) => `'${name}'`)
    return own.length === 0 ? 'never' : own.join(' | ')
  }
  const answer = get.responses['200']
  if (answer === undefined) throw new Error(`${path} answers nothing`)
  const members = [
    `parts: ${names('path')}`,
    `filters: ${names('query')}`,
    `answer: ${typeOf(answer.content['application/json'].schema, '    ', false)}`
  ]
  return [`${comment(get.summary, '  ')}  readonly '${path}': {\n${members.map(member => `    readonly ${member}\n`).join('')}  }\n`]
}

if (process.argv[1] === import.meta.filename) {
  const folder = outFolder(USAGE, GENERATED)
  if (folder !== null) generate(folder)
}
