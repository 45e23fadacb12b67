// What stands beside the description of an operation: how to call it, and what it answers.
import type { Endpoint } from '../../endpoint.ts'
import { ANSWERS } from '../answer-examples.ts'
import { type Html, markup } from '../html.ts'
import { TYPESCRIPT } from './typescript-examples.ts'

/** The samples of an operation of the service at `publicUrl`. The page's script makes tabs of the first two. */
export function samples(endpoint: Endpoint, publicUrl: string): Html {
  const { operationId, success } = endpoint
  const answer = JSON.stringify(ANSWERS[operationId] ?? null, null, 2)
  return markup`<div class="samples">
<div class="calls">
${sample('curl', curl(endpoint, publicUrl))}${sample('TypeScript', TYPESCRIPT[operationId] ?? '')}</div>
<p class="label">Answer ${String(success.status)}</p>
<pre class="answer" tabindex="0"><code>${answer}</code></pre>
</div>
`
}

/** A piece of code with its language, which the page's script can copy. */
export function sample(language: string, code: string): Html {
  return markup`<p class="label">${language}</p>
<pre class="call" data-language="${language}" tabindex="0"><code>${code}</code></pre>
`
}

/** A command for a POSIX shell that has the credentials in its environment. */
export function curl({ method, path, params, query, body, bodyExample, auth }: Endpoint, publicUrl: string): string {
  const address = path.replace(/:(\w+)/g, (_, name: string) => params[name]?.example ?? name)
  const demanded = Object.entries(query).filter(([, { required }]) => required === true)
  const search = demanded.map(([name, { example }]) => `${name}=${example}`).join('&')
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${address}${search === '' ? '' : `?${search}`}'`,
    `  -H "client-id: $CLIENT_ID"`,
    `  -H "client-secret: $CLIENT_SECRET"`,
    ...(auth === 'user' ? [`  -H "user-id: $USER_ID"`, `  -H "user-secret: $USER_SECRET"`] : []),
    ...(body === null ? [] : [`  -H 'content-type: application/json'`, `  -d '${JSON.stringify(bodyExample)}'`])
  ]
  return lines.join(' \\\n')
}
