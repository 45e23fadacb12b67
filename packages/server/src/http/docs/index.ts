// Serves the API's description: `/openapi.json` and `/asyncapi.json` for programs, `/docs` and `/docs/live` for people.
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { ENDPOINTS } from '../routes/index.ts'
import { asyncApi } from './asyncapi.ts'
import type { Description } from './components.ts'
import { serveLive } from './live/index.ts'
import { MARKET_STREAM } from './market-stream.ts'
import { openApi } from './openapi.ts'
import { referencePage } from './page.ts'

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const CACHE = 'public, max-age=300'

/** The public address is known only once the service listens, so all is made when first asked for. */
export function serveDocs(app: FastifyInstance, publicUrl: () => string): void {
  const style = readFileSync(new URL('style.css', import.meta.url), 'utf8')
  const page = made(() => referencePage(ENDPOINTS, publicUrl()))
  serveDocument('/openapi.json', () => openApi(ENDPOINTS, publicUrl()))
  serveDocument('/asyncapi.json', () => asyncApi(publicUrl()))
  app.get('/docs', (_request, reply) => {
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .header('cache-control', CACHE)
      .send(page())
  })
  app.get('/docs/style.css', (_request, reply) => {
    reply.header('content-type', 'text/css; charset=utf-8').header('cache-control', CACHE).send(style)
  })

  const { closeCodes, errorCodes } = MARKET_STREAM
  serveLive(app, publicUrl, [...closeCodes.map(entry => ({ ...entry, code: String(entry.code) })), ...errorCodes])

  function serveDocument(path: string, make: () => Description): void {
    const document = made(() => JSON.stringify(make()))
    app.get(path, (_request, reply) => {
      reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', CACHE).send(document())
    })
  }
}

function made(make: () => string): () => string {
  let text: string | undefined
  return () => {
    text ??= make()
    return text
  }
}
