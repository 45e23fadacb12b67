// Serves the API documentation: for people `/docs` and what is below it; for programs `/openapi.json`, `/asyncapi.json`, `/postman.json`
// and `/llms.txt`.
import { readdirSync, readFileSync } from 'node:fs'
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../ops/static-text.ts'
import { wantsPage } from '../not-found-page.ts'
import { ENDPOINTS } from '../routes/index.ts'
import { nothingHere } from '../routing.ts'
import { asyncApi } from './asyncapi.ts'
import { errorListPage, errorPage } from './errors/pages.ts'
import { framed, STYLES } from './frame.ts'
import { serveGuides } from './guides/index.ts'
import { markup } from './html.ts'
import { serveLive } from './live/index.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { MARKET_STREAM } from './market-stream.ts'
import { openApi } from './openapi.ts'
import { postmanCollection } from './postman.ts'
import { referencePage } from './reference/page.ts'
import { searchIndex } from './search-index.ts'
import { serveClient } from './served-client.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const SCRIPTS = new URL('client/', import.meta.url)

/** Each document is generated on its first request, because the public URL is known only once the service listens. */
export function serveDocs(app: FastifyInstance, publicUrl: () => string): void {
  const typed = (type: string) => ({ 'content-type': `${type}; charset=utf-8` })
  const page = { ...typed('text/html'), 'content-security-policy': POLICY }
  const serve = (path: string, make: () => string | Buffer, headers: Readonly<Record<string, string>>) =>
    serveText(app, path, make, () => headers)
  serve('/docs', () => referencePage(ENDPOINTS, publicUrl()), page)
  serve('/docs/errors', errorListPage, page)
  for (const code of ERROR_CODES) serve(`/docs/errors/${code}`, () => errorPage(code, ENDPOINTS), page)
  for (const name of STYLES) serve(`/docs/${name}`, () => readFileSync(new URL(name, import.meta.url)), typed('text/css'))
  for (const name of readdirSync(SCRIPTS).filter(file => file.endsWith('.js')))
    serve(`/docs/client/${name}`, () => readFileSync(new URL(name, SCRIPTS)), typed('text/javascript'))
  serveGuides(app, page)
  serve('/llms.txt', () => llmsText(ENDPOINTS, publicUrl()), typed('text/plain'))
  serve('/llms-full.txt', () => llmsFullText(ENDPOINTS, publicUrl()), typed('text/plain'))
  serveDocument('/docs/search.json', () => searchIndex(ENDPOINTS))
  serveDocument('/postman.json', () => postmanCollection(ENDPOINTS, publicUrl()))
  serveClient(app)
  serveDocument('/openapi.json', () => openApi(ENDPOINTS, publicUrl()))
  serveDocument('/asyncapi.json', () => asyncApi(publicUrl()))
  const { closeCodes, errorCodes } = MARKET_STREAM
  serveLive(app, publicUrl, [...closeCodes.map(entry => ({ ...entry, code: String(entry.code) })), ...errorCodes])

  // Known addresses with a slash at their end lead to those without. Of all others a page says that they are none.
  app.get('/docs/*', { config: { isHidden: true } }, (request, reply) => {
    const [path = ''] = request.url.split('?', 1)
    let known = path
    while (known.endsWith('/')) known = known.slice(0, -1)
    if (known !== path && app.hasRoute({ method: 'GET', url: known })) return reply.redirect(known, 308)
    if (!wantsPage(request)) throw nothingHere()
    return reply
      .code(404)
      .headers({ ...page, vary: 'accept' })
      .send(missingPage())
  })

  function serveDocument(path: string, make: () => object): void {
    serve(path, () => JSON.stringify(make()), typed('application/json'))
  }
}

/** It has nothing of the request. */
function missingPage(): string {
  return framed(
    'Not found',
    '',
    markup`<main id="content" class="guide">
<h1>There is nothing at this address</h1>
<p>Check the spelling, search above, or go on with the <a href="/docs">reference</a>, the <a href="/docs/guides">guides</a> or the list of
<a href="/docs/errors">errors</a>.</p>
</main>`
  )
}
