import { ended, type PortalOutcome, type PortalOutcomeReason } from '@trunkline/core/app/connect/portal-outcome'
import type { PortalDeps } from '@trunkline/core/app/connect/visit'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { page, scriptedPage, seeOther, withOpener } from './answer.ts'
import { type AppView, appView } from './app-view.ts'
import type { PortalCookies, StoredOutcome } from './cookies.ts'
import { isReason, NO_LINK, OUTCOME_MESSAGES } from './messages.ts'
import type { PortalOptions } from './options.ts'
import { noLinkPage, outcomePage, redirectPage, type WayBack } from './render.ts'

/** Outcomes whose page is shown at once, without a redirect to `/connect/result`. */
const SHOWN_DIRECTLY = ['unknown_link', 'other_browser', 'bad_callback', 'foreign_form'] as const
const REDIRECT_PATH = '/connect/onward'
/** The service's start page, which acts as the demo platform's application. */
const HOME = '/'

/** Ends a visit: redirects to the platform, or shows the portal's own page with a link back to the application, if that is known. */
export class OutcomeResponder {
  readonly #deps: Pick<PortalDeps, 'store'>
  readonly #cookies: PortalCookies
  readonly #demo: PortalOptions['demo']

  constructor(deps: Pick<PortalDeps, 'store'>, cookies: PortalCookies, demo: PortalOptions['demo']) {
    this.#deps = deps
    this.#cookies = cookies
    this.#demo = demo
  }

  /**
   * Redirects to the platform, or to the portal's page for the outcome, whose URL contains no secret. `retryPath`: a page of this link that
   * is still valid.
   */
  async end(outcome: PortalOutcome, request: FastifyRequest, reply: FastifyReply, retryPath: string | null = null): Promise<FastifyReply> {
    const { reason, redirect, platformId } = outcome
    const here = redirect === null ? SHOWN_DIRECTLY.find(candidate => candidate === reason) : undefined
    if (here !== undefined) return this.#show(here, request, reply, retryPath)
    // The page that waits for the outcome gets it from a page of ours, which then redirects.
    if (this.#cookies.openers.of(request, outcome.attemptId) !== null) return this.endByPage(outcome, request, reply)
    this.#cookies.clearNotice(request, reply)
    if (redirect !== null) return seeOther(reply, redirect)
    if (platformId !== null) this.#cookies.setApp(reply, platformId)
    return seeOther(reply, resultPath(reason))
  }

  /**
   * The same for a form whose page allows submissions to this origin only. A page of the portal then redirects to the platform. The browser
   * loads that page by GET, so that a reload submits nothing again.
   */
  async endByPage(outcome: PortalOutcome, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { reason, redirect, platformId, attemptId } = outcome
    if (redirect === null) return this.end(outcome, request, reply)
    const opener = this.#cookies.openers.of(request, attemptId)
    this.#cookies.clearNotice(request, reply)
    if (platformId !== null) this.#cookies.setApp(reply, platformId)
    if (this.#cookies.setOutcome(reply, this.#cookies.browser.read(request), outcome, opener)) return seeOther(reply, REDIRECT_PATH)
    return this.#redirect(reply, 200, { reason, target: redirect, opener }, await this.#appOf(platformId))
  }

  /** For a callback that arrives a second time: a page with status 400 that redirects to where the first callback led. */
  async repeat(outcome: PortalOutcome, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { reason, redirect, platformId, attemptId } = outcome
    if (platformId !== null) this.#cookies.setApp(reply, platformId)
    const app = await this.#appOf(platformId ?? this.#cookies.appOf(request))
    const opener = redirect === null ? null : this.#cookies.openers.of(request, attemptId)
    return this.#redirect(reply, 400, { reason, target: redirect ?? resultPath(reason), opener }, app)
  }

  async showRedirect(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const outcome = this.#cookies.outcomeOf(request)
    if (outcome === null) return this.#show('used', request, reply, null)
    return this.#redirect(reply, 200, outcome, await this.#appOf(this.#cookies.appOf(request)))
  }

  result(reason: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return isReason(reason) ? this.#show(reason, request, reply, null) : this.notFound(request, reply)
  }

  async notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return page(reply, 404, outcomePage('unknown_link', await this.#backFrom(request)))
  }

  /** The page at `/connect`. */
  async noLink(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return page(reply, NO_LINK.status, noLinkPage(await this.#backFrom(request)))
  }

  unknownLink(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return this.end(ended(null, 'unknown_link'), request, reply)
  }

  #redirect(reply: FastifyReply, status: number, outcome: StoredOutcome, app: AppView | null): FastifyReply {
    const html = redirectPage(outcome, app)
    return outcome.opener === null ? page(reply, status, html) : withOpener(scriptedPage(reply, status, html))
  }

  async #show(reason: PortalOutcomeReason, request: FastifyRequest, reply: FastifyReply, retryPath: string | null): Promise<FastifyReply> {
    return page(reply, OUTCOME_MESSAGES[reason].status, outcomePage(reason, await this.#backFrom(request), retryPath))
  }

  async #backFrom(request: FastifyRequest): Promise<WayBack> {
    const app = await this.#appOf(this.#cookies.appOf(request))
    return { app, home: this.#demo() === null ? null : HOME }
  }

  async #appOf(platformId: PlatformId | null): Promise<AppView | null> {
    if (platformId === null) return null
    const { platforms } = this.#deps.store
    const [platform, brand] = await Promise.all([platforms.find(platformId), platforms.brandOf(platformId)])
    if (platform === null || brand === null) return null
    const view = appView(platform, brand)
    return view.url === null && platform.clientId === this.#demo() ? { ...view, url: HOME } : view
  }
}

/** The path of the portal's page for an outcome. */
function resultPath(reason: PortalOutcomeReason): string {
  return `/connect/result/${reason}`
}
