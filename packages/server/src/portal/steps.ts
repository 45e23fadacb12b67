import { approveAttempt, declineAttempt } from '@trunkline/core/app/connect/decide'
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import { type BrowserSession, type Invitation, visitAttempt } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { page, seeOther } from './answer.ts'
import { callbackUrl } from './callback-url.ts'
import { browserSessionOf, linkHash, type PortalContext, submissionOf } from './context.ts'
import { DoubleSubmitGuard } from './double-submit.ts'
import { allowPath, brokerOf, isToken, keysPath, linkPath, recordOf } from './form.ts'
import { openerIn } from './opener.ts'
import { brokersPage, permissionsPage } from './render.ts'
import { searchIn } from './search.ts'

/** The steps before the login: the choice of a broker, if there are several, and the user's decision. */
export class Steps {
  readonly #context: PortalContext
  readonly #declined: DoubleSubmitGuard<PortalOutcome>
  readonly #approved: DoubleSubmitGuard<Awaited<ReturnType<typeof approveAttempt>>>

  constructor(context: PortalContext) {
    this.#context = context
    this.#declined = new DoubleSubmitGuard(context.deps.clock, context.submissions)
    this.#approved = new DoubleSubmitGuard(context.deps.clock, context.submissions)
  }

  /** The first step: the choice of a broker or, if there is only one, the permissions. */
  async first(request: FastifyRequest, token: string, reply: FastifyReply): Promise<FastifyReply> {
    const shown = await this.#shown(request, token)
    this.#noteOpener(shown, token, { request, reply })
    if (shown.kind === 'outcome') return this.#context.outcomes.end(shown, request, reply)
    const [only = null, ...others] = shown.brokers
    if (others.length === 0) return this.#permissions(shown, only, { request, reply }, linkPath(token))
    this.#keep(shown, { request, reply })
    const link = linkPath(token)
    const state = { now: this.#context.deps.clock.now(), link, notice: this.#context.cookies.noticeAt(request, link) }
    return page(reply, 200, brokersPage(shown, searchIn(request.query), state), backTargets(shown))
  }

  /** The permissions page for a broker that the user chose. */
  async allow(request: FastifyRequest, token: string, name: string, reply: FastifyReply): Promise<FastifyReply> {
    const requested = brokerOf(name.toUpperCase())
    if (requested === null) return this.#context.outcomes.unknownLink(request, reply)
    const shown = await this.#shown(request, token)
    if (shown.kind === 'outcome') return this.#context.outcomes.end(shown, request, reply)
    const broker = shown.brokers.find(({ capabilities }) => capabilities.id === requested)
    if (broker === undefined) return seeOther(reply, linkPath(token))
    return this.#permissions(shown, broker, { request, reply }, allowPath(token, requested))
  }

  /** Handles a submitted form of this link. `name` is the broker in the URL, if any. */
  async decide(request: FastifyRequest, token: string, name: string | null, reply: FastifyReply): Promise<FastifyReply> {
    const { outcomes, deps } = this.#context
    const session = browserSessionOf(this.#context, request)
    const { browser } = session
    // Without the cookie that the form's page set, this browser has not shown the user which platform asks for what.
    if (browser === null) return outcomes.end(ended(null, 'other_browser'), request, reply)
    if (!isToken(token)) return outcomes.unknownLink(request, reply)
    const { decision, broker } = recordOf(request.body)
    if (decision === 'decline') {
      const declined = () => declineAttempt(deps, token, { ...session, browser })
      return outcomes.end(await this.#declined.answer(submissionOf(this.#context, token, browser), declined, () => true), request, reply)
    }
    if (decision !== 'approve') return seeOther(reply, linkPath(token))
    if (name === null) return this.#choose(token, brokerOf(broker), { ...session, browser }, { request, reply })
    const chosen = brokerOf(name.toUpperCase())
    return chosen === null
      ? outcomes.unknownLink(request, reply)
      : this.#approve(token, chosen, { ...session, browser }, { request, reply })
  }

  /**
   * With several brokers, redirects to the chosen one's permissions page. With one, its permissions were on this page, so this approves.
   */
  async #choose(token: string, chosen: BrokerId | null, session: KnownBrowserSession, exchange: Exchange): Promise<FastifyReply> {
    const { deps, outcomes, cookies } = this.#context
    const shown = await visitAttempt(deps, token, session)
    if (shown.kind === 'outcome') return outcomes.end(shown, exchange.request, exchange.reply)
    if (chosen === null || !shown.brokers.some(({ capabilities: { id } }) => id === chosen)) {
      if (shown.brokers.length > 1) cookies.setNotice(exchange.reply, linkPath(token), { kind: 'choose' })
      return seeOther(exchange.reply, linkPath(token))
    }
    if (shown.brokers.length === 1) return this.#approve(token, chosen, session, exchange)
    cookies.clearNotice(exchange.request, exchange.reply)
    return seeOther(exchange.reply, allowPath(token, chosen))
  }

  async #approve(token: string, broker: BrokerId, session: KnownBrowserSession, { request, reply }: Exchange): Promise<FastifyReply> {
    const { deps, options, outcomes, cookies } = this.#context
    const address = (environment: Environment) => callbackUrl(options.publicUrl(), broker, environment)
    const approve = () => approveAttempt(deps, token, session, { broker, callbackUrl: address })
    // Two concurrent approvals would each create a state, and the browser might continue with the one that is no longer valid.
    const next = await this.#approved.answer(submissionOf(this.#context, token, session.browser, broker), approve, () => false)
    cookies.clearNotice(request, reply)
    switch (next.kind) {
      case 'outcome':
        return outcomes.end(next, request, reply)
      case 'redirect':
        await this.#noteLogin(token, session.browser, next.authorizationUrl, reply)
        return seeOther(reply, next.authorizationUrl)
      case 'keys_wanted':
        return seeOther(reply, keysPath(token, broker))
      case 'stale_form':
        return seeOther(reply, linkPath(token))
    }
  }

  /** Remembers in the browser whose login it begins. */
  async #noteLogin(token: string, browser: string, authorizationUrl: string, reply: FastifyReply): Promise<void> {
    const { deps, cookies } = this.#context
    const state = URL.parse(authorizationUrl)?.searchParams.get('state') ?? null
    const attempt = await deps.store.attempts.findByTokenHash(deps.hasher.hash(token))
    if (state !== null && attempt !== null) cookies.begun.set(reply, browser, state, attempt)
  }

  async #shown(request: FastifyRequest, token: string): Promise<Invitation | PortalOutcome> {
    return isToken(token) ? visitAttempt(this.#context.deps, token, browserSessionOf(this.#context, request)) : ended(null, 'unknown_link')
  }

  #permissions(shown: Invitation, broker: BrokerDefinition | null, exchange: Exchange, action: string): FastifyReply {
    this.#keep(shown, exchange)
    const [link] = /^\/connect\/[^/]+/.exec(action) ?? ['']
    const html = permissionsPage(shown, broker, { now: this.#context.deps.clock.now(), link, notice: null }, action)
    const logins = broker?.login.kind === 'oauth' ? [broker.login.origin] : []
    return page(exchange.reply, 200, html, [...backTargets(shown), ...logins])
  }

  /** Without an address to return to, there is no origin that the outcome may be sent to. */
  #noteOpener(shown: Invitation | PortalOutcome, token: string, { request, reply }: Exchange): void {
    const opener = openerIn(request.query)
    const [attemptId, target] =
      shown.kind === 'outcome' ? [shown.attemptId, shown.redirect] : [shown.attempt.attemptId, shown.attempt.redirectUrl]
    if (opener === null || attemptId === null || target === null) return
    this.#context.cookies.openers.add(request, reply, { attemptId, link: linkHash(this.#context, token), opener })
  }

  /** Sets the browser's cookies with every page, so that they do not expire between a page and its form's submission. */
  #keep({ platform }: Invitation, { request, reply }: Exchange): void {
    const { cookies, deps } = this.#context
    cookies.browser.set(reply, cookies.browser.read(request) ?? deps.ids.secret(''))
    cookies.setApp(reply, platform.platformId)
  }
}

type KnownBrowserSession = BrowserSession & { readonly browser: string }

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Where the browser is redirected if the user declines. */
function backTargets({ attempt: { redirectUrl, redirectOnErrorUrl } }: Invitation): readonly string[] {
  return [redirectUrl, redirectOnErrorUrl].filter(target => target !== null)
}
