// TypeScript types from the JSON schemas of the service's own documents. The part of JSON Schema that they use; any other is refused.

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly description?: string
}

const KNOWN = new Set(
  (
    '$ref type const enum anyOf items properties required additionalProperties patternProperties description title ' +
    'format pattern minLength maxLength minimum maximum minItems maxItems uniqueItems examples default'
  ).split(' ')
)
const COLUMNS = 110
const INDENT = '  '

/** An exported type. In what a client sends, absent members may also be given as undefined. */
export function declaration(name: string, schema: Schema, isSent: boolean): string {
  const head = comment(schema.description, '')
  if (schema.type === 'object') return `${head}export interface ${name} ${typeOf(schema, '', isSent)}\n`
  return `${head}export type ${name} = ${typeOf(schema, '', isSent)}\n`
}

/** The type of a schema as text. @throws Error for a part of JSON Schema that is not known here */
export function typeOf(schema: Schema, indent: string, isSent: boolean): string {
  const unknown = Object.keys(schema).filter(key => !KNOWN.has(key))
  if (unknown.length > 0) throw new Error(`the generator does not know ${unknown.join(', ')} in ${JSON.stringify(schema).slice(0, 200)}`)
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '')
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map(literal))
  if (schema.anyOf !== undefined) return union(schema.anyOf.map(each => typeOf(each, indent, isSent)))
  return union([schema.type ?? []].flat().map(type => ofType(type, schema, indent, isSent)))
}

function ofType(type: string, schema: Schema, indent: string, isSent: boolean): string {
  switch (type) {
    case 'null':
    case 'string':
    case 'boolean':
      return type
    // Tests of the repository list what may be a number: amounts are strings.
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items ?? {}, indent, isSent)
      return `readonly ${/[ |]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`
    }
    case 'object':
      return objectOf(schema, indent, isSent)
    default:
      throw new Error(`the generator does not know the type ${type}`)
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties, patternProperties = {} }: Schema,
  indent: string,
  isSent: boolean
): string {
  // Members whose names the schema leaves open: all have one type, or, by a pattern of their names, one of some.
  const open = [...(isSchema(additionalProperties) ? [additionalProperties] : []), ...Object.values(patternProperties)]
  const others = open.length === 0 ? null : union(open.map(schema => typeOf(schema, indent, isSent)))
  if (others !== null && Object.keys(properties).length === 0) return `Readonly<Record<string, ${others}>>`
  const inner = `${indent}${INDENT}`
  const members = Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required.includes(name)
    const type = typeOf(schema, inner, isSent)
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
    return `${comment(schema.description, inner)}${inner}readonly ${key}${isOptional ? '?' : ''}: ${type}${isOptional && isSent ? ' | undefined' : ''}\n`
  })
  if (others !== null) members.push(`${inner}readonly [name: string]: ${others}\n`)
  return `{\n${members.join('')}${indent}}`
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function union(types: readonly string[]): string {
  if (types.length === 0) return 'unknown'
  return [...new Set(types)].join(' | ')
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value)
}

/** A doc comment with its lines broken, or nothing. */
export function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  const lines: string[] = []
  let line = ''
  for (const word of text.replaceAll('*/', '* /').split(/\s+/)) {
    if (line !== '' && line.length + word.length >= COLUMNS) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  lines.push(line)
  const [only] = lines
  if (lines.length === 1) return `${indent}/** ${only} */\n`
  return `${indent}/**\n${lines.map(each => `${indent} * ${each}\n`).join('')}${indent} */\n`
}
