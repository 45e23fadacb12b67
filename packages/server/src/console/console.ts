// Serves the operators' console: one page for all addresses below `/console/`, and the files that it loads. It contains no data: that comes
// from the operators' API, for a session only.
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../ops/static-text.ts'

/** Built by `npm run console`, and compared with its sources by a test of the repository. */
const DIST = new URL('../../../console/dist/', import.meta.url)
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
/** Their names change with their contents. */
const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable' }

/**
 * `nothingHere`: the error of an unknown address, for files that are not there. `callback`: the path where a login provider sends the
 * browser back, at which the page is, too; null without a provider.
 */
export function serveConsole(app: FastifyInstance, nothingHere: () => Error, callback: string | null = null): void {
  const page = () => ({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    // The page of a newer version names other files.
    'cache-control': 'no-cache'
  })
  if (callback !== null)
    serveText(
      app,
      callback,
      () => readFileSync(new URL('index.html', DIST)),
      () => ({ ...page(), 'cache-control': 'no-store' })
    )
  for (const path of ['/console', '/console/*']) serveText(app, path, () => readFileSync(new URL('index.html', DIST)), page)
  for (const name of readdirSync(new URL('assets/', DIST))) {
    const type = TYPES[extname(name)]
    if (type === undefined) throw new Error(`expected scripts, styles and drawings in the console, found ${name}: add its type here`)
    const headers = () => ({ 'content-type': `${type}; charset=utf-8`, ...FOR_EVER })
    serveText(app, `/console/assets/${name}`, () => readFileSync(new URL(`assets/${name}`, DIST)), headers)
  }
  app.get('/console/assets/*', async () => {
    throw nothingHere()
  })
  serveText(
    app,
    '/console/licenses.md',
    () => readFileSync(new URL('licenses.md', DIST)),
    () => ({ 'content-type': 'text/markdown; charset=utf-8' })
  )
}
