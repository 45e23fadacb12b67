// Serves the API documentation: `/openapi.json` and `/asyncapi.json` for programs; `/docs`, `/docs/guides` and `/docs/live` for people.
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../ops/static-text.ts'
import { ENDPOINTS } from '../routes/index.ts'
import { asyncApi } from './asyncapi.ts'
import type { Description } from './components.ts'
import { serveGuides } from './guides/index.ts'
import { serveLive } from './live/index.ts'
import { MARKET_STREAM } from './market-stream.ts'
import { openApi } from './openapi.ts'
import { referencePage } from './page.ts'
import { serveClient } from './served-client.ts'

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Each document is generated on its first request, because the public URL is known only once the service listens. */
export function serveDocs(app: FastifyInstance, publicUrl: () => string): void {
  const typed = (type: string) => ({ 'content-type': `${type}; charset=utf-8` })
  serveText(
    app,
    '/docs',
    () => referencePage(ENDPOINTS, publicUrl()),
    () => ({ ...typed('text/html'), 'content-security-policy': POLICY })
  )
  serveText(
    app,
    '/docs/style.css',
    () => readFileSync(new URL('style.css', import.meta.url)),
    () => typed('text/css')
  )
  serveClient(app)
  serveGuides(app, { ...typed('text/html'), 'content-security-policy': POLICY })
  serveDocument('/openapi.json', () => openApi(ENDPOINTS, publicUrl()))
  serveDocument('/asyncapi.json', () => asyncApi(publicUrl()))
  const { closeCodes, errorCodes } = MARKET_STREAM
  serveLive(app, publicUrl, [...closeCodes.map(entry => ({ ...entry, code: String(entry.code) })), ...errorCodes])

  function serveDocument(path: string, make: () => Description): void {
    serveText(
      app,
      path,
      () => JSON.stringify(make()),
      () => typed('application/json')
    )
  }
}
