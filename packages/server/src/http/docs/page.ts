// The API reference as one HTML page. It has no scripts and loads nothing from elsewhere, so it works offline.
import type { Endpoint } from '../endpoint.ts'
import type { Params } from '../params.ts'
import { HTTP_STATUS } from '../problems.ts'
import { ANSWERS } from './answer-examples.ts'
import { STREAMS } from './asyncapi.ts'
import { FIELD_HEADS, fieldName, fieldTable, kind, table } from './fields.ts'
import { type Html, joined, markup, richText } from './html.ts'
import { failureCodes } from './openapi.ts'
import { streamNavigation, streamPart } from './stream-part.ts'

/** Renders the reference for the service at `publicUrl`. */
export function referencePage(endpoints: readonly Endpoint[], publicUrl: string): string {
  const tags = Map.groupBy(endpoints, ({ tag }) => tag)
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trunkline API</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>Trunkline API</h1>
<p>One API over many brokers: requests at <code>${publicUrl}</code>, updates of accounts <a href="#stream">as they
happen</a>, and <a href="#market-data">market data</a>, which you can <a href="/docs/live">watch live</a>. The <a href="/docs/guides">guides</a> show how to use it. Machine-readable: <a href="/openapi.json">openapi.json</a>, <a href="/asyncapi.json">asyncapi.json</a>.</p>
</header>
<div class="columns">
<nav aria-label="Contents">
<details>
<summary>Contents</summary>
${[...tags].map(([tag, list]) => markup`<h2>${tag}</h2>\n<ul>\n${list.map(navigationLine)}</ul>\n`)}${STREAMS.map(streamNavigation)}</details>
</nav>
<main id="content">
${introduction()}
${[...tags].map(([tag, list]) => markup`<section>\n<h2>${tag}</h2>\n${list.map(endpoint => article(endpoint, publicUrl))}</section>\n`)}
${STREAMS.map(stream => streamPart(stream, publicUrl))}</main>
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
<code>user-secret</code> as well. Money and quantities are strings in plain decimal notation. Times are UTC with microseconds. A value that
the broker does not report is <code>null</code>. Every path also works under <code>/v1</code>.</p>
<p>Every error is JSON with <code>message</code> (what to do), <code>code</code> (for programs), <code>request_id</code> and, for errors
about fields, <code>details</code>. A list with more pages holds a <code>next_cursor</code>: send it back with the same filters and sort.</p>
<p>A <code>cl_order_id</code> can be used once per user and trading day. If the response to an order is lost, send the same order again:
either it is placed now, or a 409 names the order that already has this <code>cl_order_id</code>.</p>
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
${description === undefined ? '' : richText(description)}
${parameterTable('In the path', params)}${parameterTable('In the query', query)}${body === null ? '' : fieldTable('Body', body, operationId)}
<pre tabindex="0"><code>${curl(endpoint, publicUrl)}</code></pre>
<p>Returns <strong>${String(success.status)}</strong>: ${success.description}</p>
${fieldTable('Response fields', success.schema, operationId)}<details><summary>Example response</summary><pre class="answer" tabindex="0"><code>${JSON.stringify(ANSWERS[operationId] ?? null, null, 2)}</code></pre></details>
<p>Errors: ${failureList(endpoint)}</p>
</article>
`
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
