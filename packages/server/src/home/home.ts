/** The start page at `/`, with the information that `npm start` printed. Secrets appear only in a browser that opened the printed link. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isLoopbackHost } from '../config/loopback.ts'
import { curlLines } from '../ops/curl-lines.ts'
import { demoLink } from '../ops/demo-link.ts'
import type { DemoPlatform } from '../ops/demo-platform.ts'
import { DemoToken } from '../ops/demo-token.ts'
import type { FirstPageAccess } from '../ops/first-page-access.ts'
import { isSameOriginForm } from '../ops/same-origin-form.ts'
import { serveText } from '../ops/static-text.ts'
import { isPath, Trial } from './trial.ts'

export interface HomeOptions {
  /** In the order in which users see them. */
  readonly brokers: readonly Pick<BrokerDefinition, 'capabilities' | 'environment'>[]
  readonly publicUrl: () => string
  /** Null if there is none, or if the service is not in sandbox or demo mode. */
  readonly demo: () => DemoPlatform | null
  /** Path of `demo-platform.json`. */
  readonly demoFile: string
  readonly access: FirstPageAccess
  readonly monotonicMs: () => number
}

/** Why a code was refused. */
type Refusal = 'spent' | 'too_many'

const eta = new Eta({ views: fileURLToPath(new URL('.', import.meta.url)), cache: true, autoEscape: true })
const read = (name: string) => readFileSync(new URL(name, import.meta.url))
/** A body of an order, its path, and what encoding as a form adds. */
const TRIAL_BYTES_MAX = 262_144
/** After a practice account that could not be used. */
const RETRY_SECONDS = 5
const CODE = /^[\w-]{20,64}$/

/**
 * Mounts the page, its assets, the exchange of a code for a cookie, the button that opens the portal, the token and the credentials for
 * `/docs/live`, and requests of the reference's pages.
 */
export function home(app: FastifyInstance, options: HomeOptions): void {
  serveText(
    app,
    '/home.css',
    () => read('./home.css'),
    () => asset('text/css')
  )
  for (const script of ['open.js', 'copy.js'])
    serveText(
      app,
      `/home/${script}`,
      () => read(`./${script}`),
      () => asset('text/javascript')
    )
  app.register(async scope => {
    await scope.register(cookie)
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: 1_024 })
    const page = new Home(app, options)
    scope.get('/', (request, reply) => page.show(request, reply))
    scope.post('/demo-session', (request, reply) => page.enter(request, reply))
    scope.post('/demo-link', (request, reply) => page.link(request, reply))
    scope.post('/demo-token', (request, reply) => page.token(request, reply, false))
    scope.post('/demo-token/new', (request, reply) => page.token(request, reply, true))
    scope.post('/demo-credentials', (request, reply) => page.credentials(request, reply))
    scope.get('/demo-request', (request, reply) => page.offersTrial(request, reply))
    scope.post('/demo-request', { bodyLimit: TRIAL_BYTES_MAX }, (request, reply) => page.trial(request, reply))
    scope.post('/demo-request/ids', (request, reply) => page.trialIds(request, reply))
  })
}

class Home {
  readonly #app: FastifyInstance
  readonly #options: HomeOptions
  readonly #tokens: DemoToken
  readonly #trial = new Trial()
  readonly #brokers: string

  constructor(app: FastifyInstance, options: HomeOptions) {
    this.#app = app
    this.#options = options
    this.#tokens = new DemoToken(options.monotonicMs)
    this.#brokers = options.brokers.map(({ capabilities: { name }, environment }) => `${name} (${environment})`).join(', ')
  }

  /** A link with a code shows a button first, so that link previews and scanners do not use up the code. */
  show(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const code = codeIn(request.query)
    if (code !== null && this.#present(request) !== null) return secured(reply, { forms: "'self'" }).send(this.#opening(code))
    return this.#page(request, reply, null)
  }

  /** Exchanges the code for a cookie. */
  enter(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (!isSameOriginForm(request, this.#options.publicUrl()) || this.#present(request) === null) return reply.redirect('/', 303)
    const redeemed = this.#options.access.redeem(codeIn(request.body) ?? '')
    if ('session' in redeemed) {
      const binding = { path: '/', httpOnly: true, sameSite: 'strict', secure: this.#options.publicUrl().startsWith('https:') } as const
      return secured(reply, { forms: "'none'" }).setCookie(this.#cookie(), redeemed.session, binding).redirect('/', 303)
    }
    if (redeemed.refused === 'wrong') return this.#page(request, reply.code(403), 'spent')
    return this.#page(request, reply.code(429).header('retry-after', Math.ceil(redeemed.retryMs / 1_000)), 'too_many')
  }

  async link(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const demo = this.#demoForForm(request)
    const link = demo === null ? null : await demoLink(demo)
    return secured(reply, { forms: "'none'" }).redirect(link ?? '/', 303)
  }

  async token(request: FastifyRequest, reply: FastifyReply, isRefused: boolean): Promise<FastifyReply> {
    const demo = this.#demoForForm(request)
    const token = demo === null ? null : await this.#tokens.of(demo, isRefused)
    return token === null ? reply.code(204).send() : reply.send({ access_token: token })
  }

  /**
   * Of a user with a practice account: for the browser that the first page shows the platform's own secret. 204 where there is none
   * for this browser; 503 while it cannot be used, so that the page asks again.
   */
  async credentials(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const demo = this.#demoForForm(request)
    if (demo === null || demo.sandbox_logins.length === 0) return reply.code(204).send()
    reply.header('cache-control', 'no-store')
    const credentials = await this.#trial.credentials(demo).catch(() => null)
    return credentials === null ? reply.code(503).header('retry-after', RETRY_SECONDS).send() : reply.send(credentials)
  }

  /** 200 in a browser that may try requests, else 204. */
  offersTrial(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.header('cache-control', 'no-store')
    return this.#demoForForm(request) === null ? reply.code(204).send() : reply.send({})
  }

  /** Carries out a request of the reference's pages. */
  async trial(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const demo = this.#demoForForm(request)
    const [method, path, body] = ['method', 'path', 'body'].map(name => textOf(request.body, name))
    if (demo === null || method === undefined || path === undefined || body === undefined) return reply.code(204).send()
    if (!isPath(path, demo.base_url)) return reply.send({ refused: 'A path begins with one slash, and has no spaces.' })
    const answer = await this.#trial.send(demo, { method, path, body }).catch(() => null)
    return answer === null ? reply.code(204).send() : reply.header('cache-control', 'no-store').send(answer)
  }

  async trialIds(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const demo = this.#demoForForm(request)
    const ids = demo === null ? null : await this.#trial.ids(demo).catch(() => null)
    return ids === null ? reply.code(204).send() : reply.header('cache-control', 'no-store').send(ids)
  }

  #page(request: FastifyRequest, reply: FastifyReply, refusal: Refusal | null): FastifyReply {
    const present = this.#present(request)
    const demo = this.#shownTo(request)
    // The portal may be served under another host name than this page.
    const forms = demo === null ? "'none'" : `'self' ${new URL(demo.base_url).origin}`
    const page = {
      ...{ url: this.#options.publicUrl(), brokers: this.#brokers, demo, refusal },
      practised: demo !== null && demo.sandbox_logins.length > 0,
      isLocked: present !== null && demo === null,
      lines: demo === null ? [] : curlLines(demo),
      file: this.#options.demoFile,
      quotedFile: quoted(this.#options.demoFile),
      docs: this.#app.hasRoute({ method: 'GET', url: '/docs' }),
      guides: this.#app.hasRoute({ method: 'GET', url: '/docs/guides' })
    }
    return secured(reply, { forms }).send(eta.render('./home', page))
  }

  #opening(code: string): string {
    return eta.render('./open', { code })
  }

  /** The demo platform; null for requests that must not learn that it exists. */
  #present(request: FastifyRequest): DemoPlatform | null {
    return isLocal(request) ? this.#options.demo() : null
  }

  #shownTo(request: FastifyRequest): DemoPlatform | null {
    const demo = this.#present(request)
    return demo !== null && this.#options.access.admits(request.cookies[this.#cookie()]) ? demo : null
  }

  #demoForForm(request: FastifyRequest): DemoPlatform | null {
    return isSameOriginForm(request, this.#options.publicUrl()) ? this.#shownTo(request) : null
  }

  /** Browsers send cookies to every port of a host, so the name contains the port. */
  #cookie(): string {
    const { port, protocol } = new URL(this.#options.publicUrl())
    return `trunkline-first-page-${port === '' ? protocol.slice(0, -1) : port}`
  }
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function codeIn(fields: unknown): string | null {
  const code: unknown = typeof fields === 'object' && fields !== null ? Reflect.get(fields, 'code') : null
  return typeof code === 'string' && CODE.test(code) ? code : null
}

function textOf(fields: unknown, name: string): string | undefined {
  const text: unknown = typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined
  return typeof text === 'string' ? text : undefined
}

function asset(type: string): Readonly<Record<string, string>> {
  return { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' }
}

function secured(reply: FastifyReply, { forms }: { readonly forms: string }): FastifyReply {
  return reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff'
  })
}

/**
 * A page of another site could reach the service under its own host name (DNS rebinding) or through a proxy. Such requests cannot use a
 * code.
 */
function isLocal(request: FastifyRequest): boolean {
  const { host, forwarded, 'x-forwarded-for': forwardedFor, 'x-forwarded-host': forwardedHost } = request.headers
  return isLoopbackHost(host) && forwarded === undefined && forwardedFor === undefined && forwardedHost === undefined
}
