import type { TSchema } from 'typebox'
import { type Html, joined, markup, richText } from './html.ts'

/** Records that several responses and messages contain, and the one operation that describes each. Elsewhere a link names the record. */
const HOMES: Readonly<Record<string, string>> = {
  Order: 'listOrders',
  Connection: 'listConnections',
  Position: 'listPositions',
  Balance: 'listBalances'
}

/** A collapsed table of the fields of an object; nothing where there are none. `at` is the page's anchor of this description. */
export function fieldTable(caption: string, schema: TSchema, at: string): Html {
  const record = recordElsewhere(schema, at)
  if (record !== null) return markup`<p>${caption}: those of ${record}.</p>\n`
  const rows = fieldRows(schema, '', at)
  return rows.length === 0 ? markup`` : markup`<details><summary>${caption}</summary>${table(caption, FIELD_HEADS, rows)}</details>\n`
}

function fieldRows(schema: unknown, prefix: string, at: string): readonly Html[] {
  const { properties, items, required } = partsOf(schema)
  if (items !== undefined) return fieldRows(items, prefix === '' ? '' : `${prefix}[].`.replace('.[]', '[]'), at)
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description } = partsOf(field)
    const mark = required.has(name) ? '' : ' (optional)'
    const record = recordElsewhere(field, at)
    const type = record ?? kind(field)
    const row = markup`<tr><th scope="row">${fieldName(prefix + name)}</th><td>${type}${mark}</td><td>${richText(description)}</td></tr>\n`
    if (record !== null) return [row]
    const inner = partsOf(field).items === undefined ? `${prefix}${name}.` : `${prefix}${name}`
    return [row, ...fieldRows(field, inner, at)]
  })
}

/** A link to the record that this schema is (or is a list of); null for anything else, and where the record itself is described. */
function recordElsewhere(schema: unknown, at: string): Html | null {
  const { title, items } = partsOf(schema)
  if (items !== undefined) {
    const record = recordElsewhere(items, at)
    return record === null ? null : markup`array of ${record}`
  }
  const home = HOMES[title]
  return home === undefined || home === at ? null : markup`<a href="#${home}">${title}</a>`
}

/** A table of three columns. The first column is the row's heading. */
export function table(caption: string, heads: readonly [string, string, string], rows: readonly Html[]): Html {
  return markup`<table class="fields"><caption>${caption}</caption>
<thead><tr>${heads.map(head => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table>
`
}

export const FIELD_HEADS = ['Name', 'Type', 'Meaning'] as const

/** A name that can wrap after an underscore or a dot on a narrow page. */
export function fieldName(name: string): Html {
  const parts = name.split(/(?<=[_.])/).map((part, at) => (at === 0 ? markup`${part}` : markup`<wbr>${part}`))
  return markup`<code>${parts}</code>`
}

/** A short description of a schema: its type, its values or its bounds. */
export function kind(schema: unknown): Html {
  const { type, values, only, alternatives, minimum, maximum, fallback, format } = partsOf(schema)
  const typeText =
    only !== undefined
      ? markup`always ${fieldName(only)}`
      : values.length > 0
        ? markup`one of ${joined(values.map(fieldName))}`
        : alternatives.length > 0
          ? markup`${type} of ${joined(alternatives.map(title => markup`<a href="#${title}">${title}</a>`))}`
          : markup`${format ?? type}`
  const bounds = minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`
  return markup`${typeText}${bounds}${fallback === undefined ? '' : markup`; default <code>${fallback}</code>`}`
}

interface Parts {
  readonly title: string
  readonly type: string
  readonly format: string | undefined
  readonly values: readonly string[]
  /** The only value allowed. */
  readonly only: string | undefined
  /** Titles of the schemas that an item of a list can have. */
  readonly alternatives: readonly string[]
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly fallback: string | undefined
  readonly description: string
  readonly properties: object
  readonly required: ReadonlySet<string>
  readonly items: unknown
}

function partsOf(schema: unknown): Parts {
  const parts: Readonly<Record<string, unknown>> = typeof schema === 'object' && schema !== null ? { ...schema } : {}
  const { title, type, format, minimum, maximum, default: fallback, description, properties, required, items } = parts
  return {
    title: typeof title === 'string' ? title : '',
    type: Array.isArray(type) ? type.join(' or ') : String(type ?? ''),
    format: typeof format === 'string' ? `${format}${Array.isArray(type) ? ' or null' : ''}` : undefined,
    values: Array.isArray(parts.enum) ? parts.enum.map(String) : [],
    only: typeof parts.const === 'string' ? parts.const : undefined,
    alternatives: titlesIn(items),
    minimum: typeof minimum === 'number' ? minimum : undefined,
    maximum: typeof maximum === 'number' ? maximum : undefined,
    fallback: fallback === undefined ? undefined : String(fallback),
    description: typeof description === 'string' ? description : '',
    properties: typeof properties === 'object' && properties !== null ? properties : {},
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    items
  }
}

function titlesIn(items: unknown): readonly string[] {
  const { anyOf }: { readonly anyOf?: unknown } = typeof items === 'object' && items !== null ? items : {}
  return Array.isArray(anyOf) ? anyOf.map(({ title }) => String(title)) : []
}
