import { approveAttempt, declineAttempt } from '@trunkline/core/app/connect/decide'
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import { type BrowserSession, type Invitation, visitAttempt } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onward, page } from './answer.ts'
import { callbackUrl } from './callback-url.ts'
import { formId, type PortalContext, visitorOf } from './context.ts'
import { allowPath, brokerOf, isToken, keysPath, linkPath, recordOf } from './form.ts'
import { brokersPage, permissionsPage } from './render.ts'
import { searchIn } from './search.ts'
import { SecondClicks } from './second-clicks.ts'

/** The steps up to the login: the choice of a broker, where there is one, and the user's yes or no. */
export class Steps {
  readonly #context: PortalContext
  readonly #declined: SecondClicks<PortalOutcome>
  readonly #approved: SecondClicks<Awaited<ReturnType<typeof approveAttempt>>>

  constructor(context: PortalContext) {
    this.#context = context
    this.#declined = new SecondClicks(context.deps.clock)
    this.#approved = new SecondClicks(context.deps.clock)
  }

  /** The first step: which broker; or, where that is settled, what the platform may do there. */
  async first(request: FastifyRequest, token: string, reply: FastifyReply): Promise<FastifyReply> {
    const shown = await this.#shown(request, token)
    if (shown.kind === 'outcome') return this.#context.endings.end(shown, request, reply)
    const [only = null, ...others] = shown.brokers
    if (others.length === 0) return this.#permissions(shown, only, { request, reply }, linkPath(token))
    this.#keep(shown, { request, reply })
    const link = linkPath(token)
    const state = { now: this.#context.deps.clock.now(), link, notice: this.#context.cookies.noticeAt(request, link) }
    return page(reply, 200, brokersPage(shown, searchIn(request.query), state), backTargets(shown))
  }

  /** The step in which a user who chose this broker sees what the platform may do there. */
  async allow(request: FastifyRequest, token: string, name: string, reply: FastifyReply): Promise<FastifyReply> {
    const asked = brokerOf(name.toUpperCase())
    if (asked === null) return this.#context.endings.unknownLink(request, reply)
    const shown = await this.#shown(request, token)
    if (shown.kind === 'outcome') return this.#context.endings.end(shown, request, reply)
    const broker = shown.brokers.find(({ capabilities }) => capabilities.id === asked)
    if (broker === undefined) return onward(reply, linkPath(token))
    return this.#permissions(shown, broker, { request, reply }, allowPath(token, asked))
  }

  /** The answer to a page of this link. `name`: of the broker, where the page is about one. */
  async decide(request: FastifyRequest, token: string, name: string | null, reply: FastifyReply): Promise<FastifyReply> {
    const { endings, deps } = this.#context
    const visitor = visitorOf(this.#context, request)
    const { browser } = visitor
    // Without the cookie of the page this form stands on, nobody has seen who asks for what.
    if (browser === null) return endings.end(ended(null, 'other_browser'), request, reply)
    if (!isToken(token)) return endings.unknownLink(request, reply)
    const { decision, broker } = recordOf(request.body)
    if (decision === 'decline') {
      const declined = () => declineAttempt(deps, token, { ...visitor, browser })
      return endings.end(await this.#declined.answer(formId(this.#context, token, browser), declined, () => true), request, reply)
    }
    if (decision !== 'approve') return onward(reply, linkPath(token))
    if (name === null) return this.#choose(token, brokerOf(broker), { ...visitor, browser }, { request, reply })
    const chosen = brokerOf(name.toUpperCase())
    return chosen === null ? endings.unknownLink(request, reply) : this.#approve(token, chosen, { ...visitor, browser }, { request, reply })
  }

  /** A broker of several leads to the page about it; the only one was on the page already. */
  async #choose(token: string, chosen: BrokerId | null, visitor: KnownVisitor, turn: Turn): Promise<FastifyReply> {
    const { deps, endings, cookies } = this.#context
    const shown = await visitAttempt(deps, token, visitor)
    if (shown.kind === 'outcome') return endings.end(shown, turn.request, turn.reply)
    if (chosen === null || !shown.brokers.some(({ capabilities: { id } }) => id === chosen)) {
      if (shown.brokers.length > 1) cookies.giveNotice(turn.reply, linkPath(token), { kind: 'choose' })
      return onward(turn.reply, linkPath(token))
    }
    if (shown.brokers.length === 1) return this.#approve(token, chosen, visitor, turn)
    cookies.dropNotice(turn.request, turn.reply)
    return onward(turn.reply, allowPath(token, chosen))
  }

  async #approve(token: string, broker: BrokerId, visitor: KnownVisitor, { request, reply }: Turn): Promise<FastifyReply> {
    const { deps, options, endings, cookies } = this.#context
    const address = (environment: Environment) => callbackUrl(options.publicUrl(), broker, environment)
    const approve = () => approveAttempt(deps, token, visitor, { broker, callbackUrl: address })
    // Two at once would each have a state of their own, and the browser might go on with the one that no longer counts.
    const next = await this.#approved.answer(formId(this.#context, token, visitor.browser, broker), approve, () => false)
    cookies.dropNotice(request, reply)
    switch (next.kind) {
      case 'outcome':
        return endings.end(next, request, reply)
      case 'redirect':
        return onward(reply, next.authorizationUrl)
      case 'keys_wanted':
        return onward(reply, keysPath(token, broker))
      case 'stale_form':
        return onward(reply, linkPath(token))
    }
  }

  async #shown(request: FastifyRequest, token: string): Promise<Invitation | PortalOutcome> {
    return isToken(token) ? visitAttempt(this.#context.deps, token, visitorOf(this.#context, request)) : ended(null, 'unknown_link')
  }

  #permissions(shown: Invitation, broker: BrokerDefinition | null, turn: Turn, action: string): FastifyReply {
    this.#keep(shown, turn)
    const [link] = /^\/connect\/[^/]+/.exec(action) ?? ['']
    const html = permissionsPage(shown, broker, { now: this.#context.deps.clock.now(), link, notice: null }, action)
    const logins = broker?.login.kind === 'oauth' ? [broker.login.origin] : []
    return page(turn.reply, 200, html, [...backTargets(shown), ...logins])
  }

  /** The browser's cookies are given with every page, so that they never end between a page and the answer to it. */
  #keep({ platform }: Invitation, { request, reply }: Turn): void {
    const { cookies, deps } = this.#context
    cookies.browser.give(reply, cookies.browser.read(request) ?? deps.ids.secret(''))
    cookies.giveApp(reply, platform.platformId)
  }
}

type KnownVisitor = BrowserSession & { readonly browser: string }

interface Turn {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Where a no leads. */
function backTargets({ attempt: { redirectUrl, redirectOnErrorUrl } }: Invitation): readonly string[] {
  return [redirectUrl, redirectOnErrorUrl].filter(target => target !== null)
}
