// The reference as one page of plain HTML: works offline, without scripts, and asks nobody else for anything.
import type { TSchema } from 'typebox'
import type { Endpoint } from '../endpoint.ts'
import type { Params } from '../params.ts'
import { HTTP_STATUS } from '../problems.ts'
import { failureCodes } from './openapi.ts'

/** Text that is safe inside HTML, as content and as a quoted attribute. */
type Html = { readonly html: string }

/** Renders the reference for the service at `publicUrl`. */
export function referencePage(endpoints: readonly Endpoint[], publicUrl: string): string {
  const tags = Map.groupBy(endpoints, ({ tag }) => tag)
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trunkline REST API</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the endpoints</a>
<header>
<h1>Trunkline REST API</h1>
<p>One API over many brokers, at <code>${publicUrl}</code>. The same as a machine reads it: <a href="/openapi.json">openapi.json</a>.</p>
</header>
<div class="columns">
<nav aria-label="Endpoints">
${[...tags].map(([tag, list]) => markup`<h2>${tag}</h2>\n<ul>\n${list.map(navigationLine)}</ul>\n`)}</nav>
<main id="content">
${introduction()}
${[...tags].map(([tag, list]) => markup`<section>\n<h2>${tag}</h2>\n${list.map(endpoint => article(endpoint, publicUrl))}</section>\n`)}</main>
</div>
</body>
</html>
`
  return page.html
}

function introduction(): Html {
  return markup`<section>
<h2 id="basics">Basics</h2>
<p>Send <code>client-id</code> and <code>client-secret</code> with every request, and for a user’s data <code>user-id</code> and
<code>user-secret</code> as well. Money and quantities are strings in plain decimal notation; times are UTC with microseconds; what a broker
does not report is <code>null</code>. Every path works under <code>/v1</code> too.</p>
<p>Every error is JSON with <code>message</code> (what to do), <code>code</code> (for programs), <code>request_id</code> and, where it is
about fields, <code>details</code>. A list that has more holds a <code>next_cursor</code>: send it back with the same filters and sort.</p>
<p>A <code>cl_order_id</code> is used once per user and trading day. When an answer to an order is lost, send the same one again: either it
was never placed and is now, or a 409 names the order that has it.</p>
</section>`
}

function navigationLine({ summary, operationId }: Endpoint): Html {
  return markup`<li><a href="#${operationId}">${summary}</a></li>\n`
}

function article(endpoint: Endpoint, publicUrl: string): Html {
  const { method, path, operationId, summary, description, auth, params, query, body, success } = endpoint
  return markup`<article id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title">${summary}</h3>
<p class="address"><span class="method">${method}</span> <code>${braced(path)}</code> <span class="auth">${
    auth === 'user' ? 'platform and user credentials' : 'platform credentials'
  }</span></p>
${description === undefined ? '' : prose(description)}
${parameterTable('In the path', params)}${parameterTable('In the query', query)}${body === null ? '' : fieldTable('Body', body)}
<pre tabindex="0"><code>${curl(endpoint, publicUrl)}</code></pre>
<p>Answers <strong>${String(success.status)}</strong>: ${success.description}</p>
${fieldTable('Fields of the answer', success.schema)}
<p>Failures: ${failureList(endpoint)}</p>
</article>
`
}

function parameterTable(caption: string, params: Params): Html {
  const rows = Object.entries(params)
  if (rows.length === 0) return markup``
  return table(
    caption,
    rows.map(
      ([name, { description, schema }]) =>
        markup`<tr><th scope="row">${fieldName(name)}</th><td>${kind(schema)}</td><td>${prose(description)}</td></tr>\n`
    )
  )
}

function fieldTable(caption: string, schema: TSchema): Html {
  const rows = fieldRows(schema, '')
  return rows.length === 0 ? markup`` : markup`<details><summary>${caption}</summary>${table(caption, rows)}</details>\n`
}

function fieldRows(schema: unknown, prefix: string): readonly Html[] {
  const { properties, items, required } = partsOf(schema)
  if (items !== undefined) return fieldRows(items, prefix === '' ? '' : `${prefix}[].`.replace('.[]', '[]'))
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description } = partsOf(field)
    const mark = required.has(name) ? '' : ' (optional)'
    const row = markup`<tr><th scope="row">${fieldName(prefix + name)}</th><td>${kind(field)}${mark}</td><td>${prose(description)}</td></tr>\n`
    const inner = partsOf(field).items === undefined ? `${prefix}${name}.` : `${prefix}${name}`
    return [row, ...fieldRows(field, inner)]
  })
}

function table(caption: string, rows: readonly Html[]): Html {
  return markup`<table><caption>${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody></table>
`
}

/** A name that may break after its underscores, on a narrow page. */
function fieldName(name: string): Html {
  return { html: `<code>${escaped(name).replace(/[_.]/g, '$&<wbr>')}</code>` }
}

/** A schema in a few words: its type, its values or its bounds. */
function kind(schema: unknown): Html {
  const { type, values, minimum, maximum, fallback, format } = partsOf(schema)
  const words = values.length > 0 ? markup`one of ${joined(values.map(fieldName))}` : markup`${format ?? type}`
  const bounds = minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`
  return markup`${words}${bounds}${fallback === undefined ? '' : markup`; default <code>${fallback}</code>`}`
}

interface Parts {
  readonly type: string
  readonly format: string | undefined
  readonly values: readonly string[]
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
  const { type, format, minimum, maximum, default: fallback, description, properties, required, items } = parts
  return {
    type: Array.isArray(type) ? type.join(' or ') : String(type ?? ''),
    format: typeof format === 'string' ? `${format}${Array.isArray(type) ? ' or null' : ''}` : undefined,
    values: Array.isArray(parts.enum) ? parts.enum.map(String) : [],
    minimum: typeof minimum === 'number' ? minimum : undefined,
    maximum: typeof maximum === 'number' ? maximum : undefined,
    fallback: fallback === undefined ? undefined : String(fallback),
    description: typeof description === 'string' ? description : '',
    properties: typeof properties === 'object' && properties !== null ? properties : {},
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    items
  }
}

function failureList(endpoint: Endpoint): Html {
  const codes = [...new Set(failureCodes(endpoint))]
  return joined(codes.map(code => markup`<code>${String(endpoint.statusOverrides?.[code] ?? HTTP_STATUS[code])} ${code}</code>`))
}

function curl({ method, path, params, body, bodyExample, auth }: Endpoint, publicUrl: string): string {
  const address = path.replace(/:(\w+)/g, (_, name: string) => params[name]?.example ?? name)
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${address}'`,
    `  -H "client-id: $CLIENT_ID" -H "client-secret: $CLIENT_SECRET"`,
    ...(auth === 'user' ? [`  -H "user-id: $USER_ID" -H "user-secret: $USER_SECRET"`] : []),
    ...(body === null ? [] : [`  -H 'content-type: application/json'`, `  -d '${JSON.stringify(bodyExample)}'`])
  ]
  return lines.join(' \\\n')
}

function braced(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** Plain words with `code` in them. */
function prose(text: string): Html {
  return {
    html: text
      .split('`')
      .map((part, at) => (at % 2 === 0 ? escaped(part) : `<code>${escaped(part)}</code>`))
      .join('')
  }
}

function joined(parts: readonly Html[]): Html {
  return { html: parts.map(({ html }) => html).join(', ') }
}

type Piece = string | Html | readonly Html[]

/** A template whose values are escaped, unless they are HTML already. */
function markup(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return { html: strings.reduce((text, string, at) => `${text}${rendered(values[at - 1] ?? '')}${string}`) }
}

function rendered(piece: Piece): string {
  if (typeof piece === 'string') return escaped(piece)
  return 'html' in piece ? piece.html : piece.map(({ html }) => html).join('')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character)
}
