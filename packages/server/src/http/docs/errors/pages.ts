// A page for each error code, and the list of them.
import { ERROR_CODES, type ErrorCode } from '@trunkline/core/domain/errors'
import type { Endpoint } from '../../endpoint.ts'
import { HTTP_STATUS } from '../../problems.ts'
import { framed } from '../frame.ts'
import { type Html, joined, markup, richText } from '../html.ts'
import { failureCodes, statusOf } from '../openapi.ts'
import { problemExample } from '../problem-examples.ts'
import { type Again, MEANINGS } from './meanings.ts'

const AGAIN: { readonly [again in Again]: string } = {
  later: 'Nothing was done. The same request may be sent again after a while.',
  changed: 'Nothing was done. The same request would be refused again.',
  look: 'What was asked for may have been done. Look before you send the request again.'
}

export function errorListPage(): string {
  const byStatus = Map.groupBy(ERROR_CODES, code => HTTP_STATUS[code])
  return framed(
    'Errors',
    '/docs/errors',
    markup`${navigation(null)}
<main id="content" class="guide">
<h1>Errors</h1>
<p>Every error is JSON with a stable <code>code</code>. Programs decide by it, never by <code>message</code>, which is for people and may
change. Later versions may have other codes: treat one that you do not know by its status.</p>
<pre tabindex="0"><code>${JSON.stringify(problemExample('field_invalid'), null, 2)}</code></pre>
${[...byStatus]
  .sort(([a], [b]) => a - b)
  .map(
    ([status, codes]) => markup`<section aria-labelledby="status-${String(status)}"><h2 id="status-${String(status)}">${String(status)}</h2>
<dl class="guides">
${codes.map(code => markup`<div><dt><a href="/docs/errors/${code}"><code>${code}</code></a></dt><dd>${richText(MEANINGS[code].meaning)}</dd></div>\n`)}</dl>
</section>
`
  )}</main>`
  )
}

/** @param endpoints all there are, for those that can answer the code */
export function errorPage(code: ErrorCode, endpoints: readonly Endpoint[]): string {
  const { meaning, remedy, again } = MEANINGS[code]
  const statuses = [...new Set([HTTP_STATUS[code], ...endpoints.map(endpoint => statusOf(endpoint, code))])]
  return framed(
    code,
    '/docs/errors',
    markup`${navigation(code)}
<main id="content" class="guide">
<h1><code>${code}</code></h1>
<p>Status ${statuses.join(' or ')}</p>
<h2>What it means</h2>
<p>${richText(meaning)}</p>
<h2>What to do</h2>
<p>${richText(remedy)}</p>
<h2>Whether to send it again</h2>
<p>${AGAIN[again]}</p>
<h2>Example</h2>
<pre tabindex="0"><code>${JSON.stringify(problemExample(code), null, 2)}</code></pre>
${operations(code, endpoints)}</main>`
  )
}

function operations(code: ErrorCode, endpoints: readonly Endpoint[]): Html {
  const found = endpoints.filter(endpoint => failureCodes(endpoint).includes(code))
  if (found.length === 0) return markup``
  const named = found.map(({ operationId, summary }) => markup`<a href="/docs#${operationId}">${summary}</a>`)
  return markup`<h2>Where it occurs</h2>
<p>${found.length === endpoints.length ? 'Every operation can answer this.' : joined(named)}</p>
`
}

function navigation(here: ErrorCode | null): Html {
  return markup`<nav class="contents" tabindex="0" aria-label="Errors"><details>
<summary>Error codes</summary>
<ul>
${ERROR_CODES.map(code => markup`<li><a href="/docs/errors/${code}"${code === here ? markup` aria-current="page"` : ''}>${code}</a></li>\n`)}</ul>
</details></nav>`
}
