// Serves `/docs/live`: the page, its style, its modules, and the chart library, all from here.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { livePage, type ReferenceEntry } from './page.ts'

/** Folders whose files are served as they are, by their kind. */
const ASSETS = [
  { folder: new URL('./style/', import.meta.url), ending: '.css', type: 'text/css' },
  { folder: new URL('./client/', import.meta.url), ending: '.js', type: 'text/javascript' }
] as const
const CACHE = 'public, max-age=300'
/** The build that needs no other package, as a module. */
const LIBRARY = join(
  dirname(createRequire(import.meta.url).resolve('lightweight-charts/package.json')),
  'dist/lightweight-charts.standalone.production.mjs'
)

/** Mounts the page, which connects to the service it came from. What it says of codes is `reference`. */
export function serveLive(app: FastifyInstance, publicUrl: () => string, reference: readonly ReferenceEntry[]): void {
  const page = livePage(reference)
  app.get('/docs/live', (_request, reply) => {
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy(publicUrl()))
      .header('cache-control', CACHE)
      .send(page)
  })
  for (const { folder, ending, type } of ASSETS) {
    for (const name of readdirSync(folder).filter(file => file.endsWith(ending))) asset(name, type, readFileSync(new URL(name, folder)))
  }
  asset('lightweight-charts.js', 'text/javascript', readFileSync(LIBRARY))

  function asset(name: string, type: string, bytes: Buffer): void {
    app.get(`/docs/live/${name}`, (_request, reply) => {
      reply.header('content-type', `${type}; charset=utf-8`).header('cache-control', CACHE).send(bytes)
    })
  }
}

function policy(publicUrl: string): string {
  // Some browsers do not count a WebSocket of the page's own origin as 'self'.
  const socket = publicUrl.replace(/^http/, 'ws')
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ${socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}
