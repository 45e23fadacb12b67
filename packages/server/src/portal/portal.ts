/** The connection portal: the only pages an end user ever sees of us. */

import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { completeLogin } from '@trunkline/core/app/connect/complete-login'
import { approveAttempt, declineAttempt } from '@trunkline/core/app/connect/decide'
import { type Ending, ended } from '@trunkline/core/app/connect/ending'
import { askForKeys, type EnteredKeys, enterKeys } from '@trunkline/core/app/connect/enter-keys'
import { type PortalDeps, type Visitor, visitAttempt } from '@trunkline/core/app/connect/visit'
import type { AppDeps } from '@trunkline/core/app/deps'
import { type BrokerId, parseBrokerId } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import { onward, page } from './answer.ts'
import { BrowserCookie } from './browser-cookie.ts'
import { callbackUrl, environmentOf } from './callback-url.ts'
import { answerFailures, type Trouble } from './failures.ts'
import { isOwnForm } from './own-form.ts'
import { endingPage, invitationPage, keysPage, onwardPage, STYLESHEET } from './render.ts'
import { SecondClicks } from './second-clicks.ts'
import { ENDINGS, isReason } from './words.ts'

export interface PortalOptions {
  /** Origin under which browsers reach us. */
  readonly publicUrl: () => string
  /** What HTTP makes of whatever was thrown. */
  readonly problemOf: (error: unknown) => Trouble
}

type PagesDeps = PortalDeps & Pick<AppDeps, 'accessAudit'>

interface CallbackAddress {
  readonly broker: string
  readonly environment?: string
}

interface KeysAddress {
  readonly token: string
  readonly broker: string
}

const TOKEN = /^[\w-]{20,64}$/
/** Endings that are told on the spot, because they lead nowhere. */
const ON_THE_SPOT = ['unknown_link', 'other_browser', 'bad_callback', 'foreign_form'] as const

/** Mounts the portal at `/connect`. */
export async function portal(app: FastifyInstance, deps: PagesDeps, options: PortalOptions): Promise<void> {
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: 4_096 })
    await scope.register(cookie)
    answerFailures(scope, deps.log, options.problemOf)
    const pages = new Pages(deps, options)
    scope.get('/connect/assets/portal.css', (_request, reply) => {
      reply.header('cache-control', 'public, max-age=3600').type('text/css; charset=utf-8').send(STYLESHEET)
    })
    scope.get<{ Params: { reason: string } }>('/connect/result/:reason', (request, reply) => pages.result(request.params.reason, reply))
    for (const address of ['/connect/callback/:broker', '/connect/callback/:broker/:environment'])
      scope.get<{ Params: CallbackAddress }>(address, (request, reply) => pages.callback(request, request.params, reply))
    scope.get<{ Params: { token: string } }>('/connect/:token', (request, reply) => pages.visit(request, request.params.token, reply))
    scope.post<{ Params: { token: string } }>('/connect/:token', (request, reply) =>
      pages.ownForm(request, reply, () => pages.decide(request, request.params.token, reply))
    )
    const keys = '/connect/:token/keys/:broker'
    scope.get<{ Params: KeysAddress }>(keys, (request, reply) => pages.keys(request, request.params, reply))
    scope.post<{ Params: KeysAddress }>(keys, (request, reply) =>
      pages.ownForm(request, reply, () => pages.enter(request, request.params, reply))
    )
    for (const elsewhere of ['/connect', '/connect/*'])
      scope.get(elsewhere, (_request, reply) => page(reply, 404, endingPage('unknown_link')))
  })
}

class Pages {
  readonly #deps: PagesDeps
  readonly #options: PortalOptions
  readonly #cookie: BrowserCookie
  readonly #declined: SecondClicks<Ending>
  readonly #entered: SecondClicks<EnteredKeys>

  constructor(deps: PagesDeps, options: PortalOptions) {
    this.#deps = deps
    this.#options = options
    this.#cookie = new BrowserCookie(deps.hasher, () => options.publicUrl().startsWith('https:'))
    this.#declined = new SecondClicks(deps.clock)
    this.#entered = new SecondClicks(deps.clock)
  }

  /** Carries out a form, unless it was sent from a page of somebody else's. */
  async ownForm(request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
    if (isOwnForm(request, this.#options.publicUrl())) return work()
    this.#refused(null, 'foreign_form', this.#visitor(request))
    return this.#end(ended(null, 'foreign_form'), reply)
  }

  async visit(request: FastifyRequest, token: string, reply: FastifyReply): Promise<FastifyReply> {
    const visitor = this.#visitor(request)
    const shown = TOKEN.test(token) ? await visitAttempt(this.#deps, token, visitor) : ended(null, 'unknown_link')
    if (shown.kind === 'ending') return this.#end(shown, reply)
    this.#cookie.give(reply, visitor.browser ?? this.#deps.ids.secret(''))
    const { redirectUrl, redirectOnErrorUrl } = shown.attempt
    const targets = [redirectUrl, redirectOnErrorUrl].filter(target => target !== null)
    const logins = shown.brokers.flatMap(({ login }) => (login.kind === 'oauth' ? [login.origin] : []))
    return page(reply, 200, invitationPage(shown, this.#deps.clock.now(), `/connect/${token}`), [...targets, ...logins])
  }

  async decide(request: FastifyRequest, token: string, reply: FastifyReply): Promise<FastifyReply> {
    const visitor = this.#visitor(request)
    const { browser } = visitor
    // Without the cookie of the page this form stands on, nobody has seen who asks for what.
    if (browser === null) return this.#end(ended(null, 'other_browser'), reply)
    if (!TOKEN.test(token)) return this.#end(ended(null, 'unknown_link'), reply)
    const { decision, broker } = recordOf(request.body)
    if (decision === 'decline') {
      const declined = () => declineAttempt(this.#deps, token, { ...visitor, browser })
      return this.#end(await this.#declined.answer(this.#formOf(token, browser), declined, () => true), reply)
    }
    const chosen = brokerOf(broker)
    if (decision !== 'approve' || chosen === null) return onward(reply, `/connect/${token}`)
    const choice = {
      broker: chosen,
      callbackUrl: (environment: Environment) => callbackUrl(this.#options.publicUrl(), chosen, environment)
    }
    const next = await approveAttempt(this.#deps, token, { ...visitor, browser }, choice)
    switch (next.kind) {
      case 'ending':
        return this.#end(next, reply)
      case 'departure':
        return onward(reply, next.authorizationUrl)
      case 'keys_wanted':
        return onward(reply, keysPath(token, chosen))
      case 'misfit':
        return onward(reply, `/connect/${token}`)
    }
  }

  /** The form for keys of the user's own. Its page lets no form lead to any other origin. */
  async keys(request: FastifyRequest, { token, broker }: KeysAddress, reply: FastifyReply): Promise<FastifyReply> {
    const asked = brokerOf(broker.toUpperCase())
    if (!TOKEN.test(token) || asked === null) return this.#end(ended(null, 'unknown_link'), reply)
    const visitor = this.#visitor(request)
    const shown = await askForKeys(this.#deps, token, asked, visitor)
    if (shown.kind === 'ending') return this.#end(shown, reply)
    if (shown.kind === 'misfit') return onward(reply, `/connect/${token}`)
    if (visitor.browser !== null) this.#cookie.give(reply, visitor.browser)
    return page(reply, 200, keysPage(shown, this.#deps.clock.now(), keysPath(token, asked)))
  }

  async enter(request: FastifyRequest, { token, broker }: KeysAddress, reply: FastifyReply): Promise<FastifyReply> {
    const asked = brokerOf(broker.toUpperCase())
    if (!TOKEN.test(token) || asked === null) return this.#end(ended(null, 'unknown_link'), reply)
    const entry = { broker: asked, entered: recordOf(request.body) }
    const visitor = this.#visitor(request)
    const form = this.#formOf(token, visitor.browser, entry)
    const entered = () => enterKeys(this.#deps, token, entry, visitor)
    const next = await this.#entered.answer(form, entered, ({ kind }) => kind === 'ending')
    if (next.kind === 'misfit') return onward(reply, `/connect/${token}`)
    if (next.kind === 'try_again') return page(reply, 400, keysPage(next.form, this.#deps.clock.now(), keysPath(token, asked), next.why))
    return next.redirect === null ? this.#end(next, reply) : page(reply, 200, onwardPage(next.reason, next.redirect))
  }

  async callback(request: FastifyRequest, address: CallbackAddress, reply: FastifyReply): Promise<FastifyReply> {
    const visitor = this.#visitor(request)
    const broker = brokerOf(address.broker.toUpperCase())
    const ending = await this.#complete(broker, environmentOf(address.environment), request.url, visitor)
    const { reason } = ending
    if (reason === 'bad_callback' || reason === 'other_browser') this.#refused(broker, reason, visitor)
    return this.#end(ending, reply)
  }

  async #complete(broker: BrokerId | null, environment: Environment | null, address: string, visitor: Visitor): Promise<Ending> {
    const at = address.indexOf('?')
    const query = new URLSearchParams(at === -1 ? '' : address.slice(at + 1))
    const [state, ...others] = query.getAll('state')
    const isContradictory = others.length > 0 || query.getAll('code').length > 1 || (query.has('code') && query.has('error'))
    if (broker === null || environment === null || state === undefined || isContradictory) return ended(null, 'bad_callback')
    const redirectUri = callbackUrl(this.#options.publicUrl(), broker, environment)
    return completeLogin(
      this.#deps,
      { broker, environment, state, redirectUri, callbackUrl: `${redirectUri}?${query.toString()}` },
      visitor
    )
  }

  result(reason: string, reply: FastifyReply): FastifyReply {
    return isReason(reason) ? page(reply, ENDINGS[reason].status, endingPage(reason)) : page(reply, 404, endingPage('unknown_link'))
  }

  /** Nobody's attempt answers for it, and anybody can send one. */
  #refused(broker: BrokerId | null, reason: string, { ip, requestId }: Visitor): void {
    const group = addressGroup(ip ?? '')
    const target = broker ?? 'unknown'
    this.#deps.accessAudit.note({ action: 'connection.callback', actor: 'anonymous', target, reason, ip, group, requestId })
  }

  /** To the platform, or to our own page for the outcome, whose address holds no secret. */
  #end({ redirect, reason }: Ending, reply: FastifyReply): FastifyReply {
    const here = redirect === null ? ON_THE_SPOT.find(word => word === reason) : undefined
    if (here !== undefined) return page(reply, ENDINGS[here].status, endingPage(here))
    return onward(reply, redirect ?? `/connect/result/${reason}`)
  }

  /** Hashed, because a form may hold keys. */
  #formOf(...parts: readonly unknown[]): string {
    return this.#deps.hasher.hash(JSON.stringify(parts))
  }

  #visitor(request: FastifyRequest): Visitor {
    return { browser: this.#cookie.read(request), ip: request.ip, requestId: request.id }
  }
}

function keysPath(token: string, broker: BrokerId): string {
  return `/connect/${token}/keys/${broker.toLowerCase()}`
}

/** The fields of a form; one that is there twice is a list. */
function recordOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body)) : {}
}

function brokerOf(name: unknown): BrokerId | null {
  try {
    return parseBrokerId(name)
  } catch (cause) {
    if (cause instanceof Malformed) return null
    throw cause
  }
}
