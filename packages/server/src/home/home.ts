/** The page at `/`: what `npm start` printed, kindly. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import formbody from '@fastify/formbody'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { curlLines } from '../ops/curl-lines.ts'
import { demoLink } from '../ops/demo-link.ts'
import type { DemoPlatform } from '../ops/demo-platform.ts'
import { DemoToken } from '../ops/demo-token.ts'

export interface HomeOptions {
  /** In the order in which users see them. */
  readonly brokers: readonly Pick<BrokerDefinition, 'capabilities' | 'environment'>[]
  readonly publicUrl: () => string
  readonly demo: () => DemoPlatform | null
  /** Whether only this machine can reach us. Elsewhere the page shows no credential. */
  readonly isLoopback: boolean
  readonly monotonicMs: () => number
}

const eta = new Eta({ views: fileURLToPath(new URL('.', import.meta.url)), cache: true, autoEscape: true })
const STYLESHEET = readFileSync(new URL('./home.css', import.meta.url), 'utf8')
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/

/** Mounts the page, its stylesheet, the button that makes a portal link, and the token with which `/docs/live` needs no button. */
export function home(app: FastifyInstance, options: HomeOptions): void {
  const tokens = new DemoToken(options.monotonicMs)
  const brokers = options.brokers.map(({ capabilities: { name }, environment }) => `${name} (${environment})`).join(', ')
  const shownTo = (request: FastifyRequest) => (options.isLoopback && isLocal(request) ? options.demo() : null)
  app.get('/home.css', (_request, reply) => {
    reply.header('cache-control', 'public, max-age=3600').type('text/css; charset=utf-8').send(STYLESHEET)
  })
  app.get('/', (request, reply) => {
    const demo = shownTo(request)
    const practised = demo !== null && demo.sandbox_logins.length > 0
    const lines = demo === null ? [] : curlLines(demo)
    const docs = app.hasRoute({ method: 'GET', url: '/docs' })
    secured(reply, demo)
      .type('text/html; charset=utf-8')
      .send(eta.render('./home', { url: options.publicUrl(), brokers, demo, practised, lines, docs }))
  })
  app.register(async scope => {
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: 1_024 })
    scope.post('/demo-link', async (request, reply) => {
      const demo = isFromOwnPage(request) ? shownTo(request) : null
      const link = demo === null ? null : await demoLink(demo)
      return secured(reply, demo).redirect(link ?? '/', 303)
    })
    for (const path of ['/demo-token', '/demo-token/new']) {
      scope.post(path, async (request, reply) => {
        const demo = isFromOwnPage(request) ? shownTo(request) : null
        const token = demo === null ? null : await tokens.of(demo, path === '/demo-token/new')
        return token === null ? reply.code(204).send() : reply.send({ access_token: token })
      })
    }
  })
}

function secured(reply: FastifyReply, demo: DemoPlatform | null): FastifyReply {
  // The portal may bear another of our names than the one this page was opened under.
  const forms = demo === null ? "'none'" : `'self' ${new URL(demo.base_url).origin}`
  return reply.headers({
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src data:; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff'
  })
}

/** A page of another site could reach us under its own name (DNS rebinding) or through a proxy: then nothing secret is shown. */
function isLocal(request: FastifyRequest): boolean {
  return LOCAL_HOST.test(request.headers.host ?? '') && request.headers['x-forwarded-for'] === undefined
}

/** Browsers say where a form was sent from; a form on any other site makes no link here. */
function isFromOwnPage(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site']
  return site === undefined || site === 'same-origin'
}
