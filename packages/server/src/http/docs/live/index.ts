// Serves `/docs/live`: the page, its styles, its modules and the chart library.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../../ops/static-text.ts'
import { DIST } from '../served-client.ts'
import { livePage, type ReferenceEntry } from './page.ts'

interface Assets {
  readonly folder: URL
  /** Where its files are below `/docs/live`; absent: there. */
  readonly below?: string
  readonly suffix: string
  readonly type: string
}

/** Folders whose files are served unchanged. */
const ASSETS: readonly Assets[] = [
  { folder: new URL('./style/', import.meta.url), suffix: '.css', type: 'text/css' },
  { folder: new URL('./client/', import.meta.url), suffix: '.js', type: 'text/javascript' },
  // What the console shares.
  { folder: new URL('./client/trading/', import.meta.url), below: 'trading/', suffix: '.js', type: 'text/javascript' }
]
/** The ES module build without dependencies. */
const LIBRARY = join(
  dirname(createRequire(import.meta.url).resolve('lightweight-charts/package.json')),
  'dist/lightweight-charts.standalone.production.mjs'
)

/** Mounts the page. It connects to the service that served it. `reference` explains the codes of the stream. */
export function serveLive(app: FastifyInstance, publicUrl: () => string, reference: readonly ReferenceEntry[]): void {
  const page = livePage(reference)
  serveText(
    app,
    '/docs/live',
    () => page,
    () => ({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy(publicUrl()) })
  )
  for (const { folder, below = '', suffix, type } of ASSETS) {
    for (const name of readdirSync(folder).filter(file => file.endsWith(suffix)))
      asset(`${below}${name}`, type, readFileSync(new URL(name, folder)))
  }
  asset('lightweight-charts.js', 'text/javascript', readFileSync(LIBRARY))
  for (const name of ['trunkline', 'streams']) asset(`${name}.js`, 'text/javascript', readFileSync(join(DIST, `${name}.min.js`)))

  function asset(name: string, type: string, bytes: Buffer): void {
    serveText(
      app,
      `/docs/live/${name}`,
      () => bytes,
      () => ({ 'content-type': `${type}; charset=utf-8` })
    )
  }
}

function policy(publicUrl: string): string {
  // In some browsers 'self' does not include a WebSocket of the same origin.
  const socket = publicUrl.replace(/^http/, 'ws')
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ${socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}
