// The API reference as one page: contents, descriptions, and samples beside them. It loads nothing from elsewhere, so it works offline.
import type { Deprecation } from '../../deprecation.ts'
import type { Endpoint } from '../../endpoint.ts'
import type { Params } from '../../params.ts'
import { STREAMS } from '../asyncapi.ts'
import { FIELD_HEADS, fieldName, fieldTable, kind, table } from '../fields.ts'
import { framed } from '../frame.ts'
import { type Html, joined, markup, richText } from '../html.ts'
import { failureCodes, statusOf } from '../openapi.ts'
import { streamNavigation, streamPart } from '../stream-part.ts'
import { sample, samples } from './samples.ts'
import { TYPESCRIPT_START } from './typescript-examples.ts'

/** Renders the reference for the service at `publicUrl`. */
export function referencePage(endpoints: readonly Endpoint[], publicUrl: string): string {
  const tags = Map.groupBy(endpoints, ({ tag }) => tag)
  return framed(
    'API reference',
    '/docs',
    markup`<nav class="contents" tabindex="0" aria-label="Contents">
<details>
<summary>Contents</summary>
<ul>
<li><a href="#basics">Basics</a></li>
</ul>
${[...tags].map(([tag, list]) => markup`<h2>${tag}</h2>\n<ul>\n${list.map(navigationLine)}</ul>\n`)}${STREAMS.map(streamNavigation)}</details>
</nav>
<main id="content" class="reference">
<h1>Trunkline API</h1>
<p>One API over many brokers: requests at <code>${publicUrl}</code>, updates of accounts <a href="#stream">as they
happen</a>, and <a href="#market-data">market data</a>, which you can <a href="/docs/live">watch live</a>.
The <a href="/docs/guides">guides</a> show how to use it. For programs: <a href="/openapi.json">openapi.json</a>,
<a href="/asyncapi.json">asyncapi.json</a>, a <a href="/postman.json">Postman collection</a>, <a href="/llms.txt">llms.txt</a>,
and a <a href="/client.tgz">TypeScript client</a>.</p>
${introduction(publicUrl)}
${[...tags].map(([tag, list]) => markup`<section>\n<h2>${tag}</h2>\n${list.map(endpoint => article(endpoint, publicUrl))}</section>\n`)}
${STREAMS.map(stream => streamPart(stream, publicUrl))}</main>`
  )
}

function introduction(publicUrl: string): Html {
  return markup`<section class="entry">
<div>
<h2 id="basics">Basics</h2>
<p>Send <code>client-id</code> and <code>client-secret</code> with every request, and for a user’s data <code>user-id</code> and
<code>user-secret</code> as well. Money and quantities are strings in plain decimal notation. Times are UTC with microseconds. A value that
the broker does not report is <code>null</code>. Every path also works under <code>/v1</code>.</p>
<p>Every <a href="/docs/errors">error</a> is JSON with <code>message</code> (what to do), <code>code</code> (for programs),
<code>request_id</code> and, for errors about fields, <code>details</code>. A list with more pages holds a <code>next_cursor</code>: send it
back with the same filters and sort.</p>
<p>A <code>cl_order_id</code> can be used once per user and trading day (the date in New York). If the response to an order is lost, send the
same order again on the same trading day: either it is placed now, or a 409 names the order that already has this <code>cl_order_id</code>. Once
the day may have changed, look the order up instead (<code>GET /orders?cl_order_id=…</code>): sent again, it would be a second order.</p>
</div>
<div class="samples">
<p>The client comes from this service: <code>npm install ${publicUrl}/client.tgz</code></p>
${sample('TypeScript', TYPESCRIPT_START)}</div>
</section>`
}

function navigationLine({ summary, operationId }: Endpoint): Html {
  return markup`<li><a href="#${operationId}">${summary}</a></li>\n`
}

function article(endpoint: Endpoint, publicUrl: string): Html {
  const { method, path, operationId, summary, description, auth, params, query, body, success, deprecation } = endpoint
  const demanded = Object.entries(query).flatMap(([name, { required, example }]) => (required === true ? [`${name}=${example}`] : []))
  const tried = markup` data-method="${method}" data-path="${braced(path)}" data-search="${demanded.join('&')}" data-body="${body === null ? '' : JSON.stringify(endpoint.bodyExample)}"`
  return markup`<article id="${operationId}" class="entry" aria-labelledby="${operationId}-title"${tried}>
<div>
<h3 id="${operationId}-title">${summary}</h3>
<p class="address"><span class="method">${method}</span> <code>${braced(path)}</code> <span class="auth">${
    auth === 'user' ? 'platform and user credentials' : 'platform credentials'
  }</span></p>
${deprecation === undefined ? '' : deprecated(deprecation)}${description === undefined ? '' : markup`<p>${richText(description)}</p>\n`}${parameterTable('In the path', params)}${parameterTable('In the query', query)}${body === null ? '' : fieldTable('Body', body, operationId)}
<p>Returns <strong>${String(success.status)}</strong>: ${success.description}</p>
${fieldTable('Response fields', success.schema, operationId)}
<p class="failures">Errors: ${failureList(endpoint)}</p>
</div>
${samples(endpoint, publicUrl)}</article>
`
}

function deprecated({ since, until, instead }: Deprecation): Html {
  return markup`<p class="deprecated"><strong>Deprecated</strong> since ${since}, and served until ${until} at least. ${richText(instead)}</p>\n`
}

function parameterTable(caption: string, params: Params): Html {
  const rows = Object.entries(params)
  if (rows.length === 0) return markup``
  return table(
    caption,
    FIELD_HEADS,
    rows.map(
      ([name, { description, schema, required = false }]) =>
        markup`<tr><th scope="row">${fieldName(name)}</th><td>${kind(schema)}${required ? ' (required)' : ''}</td><td>${richText(description)}</td></tr>\n`
    )
  )
}

function failureList(endpoint: Endpoint): Html {
  const codes = [...new Set(failureCodes(endpoint))]
  return joined(codes.map(code => markup`<a href="/docs/errors/${code}"><code>${String(statusOf(endpoint, code))} ${code}</code></a>`))
}

function braced(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
