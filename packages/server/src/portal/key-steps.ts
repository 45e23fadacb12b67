import { declineAttempt, type StaleForm } from '@trunkline/core/app/connect/decide'
import { askForKeys, enterKeys, type Why } from '@trunkline/core/app/connect/enter-keys'
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { page, seeOther } from './answer.ts'
import { browserSessionOf, type PortalContext, submissionOf } from './context.ts'
import { DoubleSubmitGuard } from './double-submit.ts'
import { allowPath, brokerOf, isToken, keysPath, linkPath, recordOf } from './form.ts'
import { bounded } from './notice.ts'
import { keysPage } from './render.ts'

export interface BrokerAddress {
  readonly token: string
  readonly broker: string
}

/** What follows an entry. */
type Entered = PortalOutcome | StaleForm | { readonly kind: 'try_again'; readonly why: Why }

/** The step on which a user enters API keys. The page's content security policy lets its form submit to this origin only. */
export class KeySteps {
  readonly #context: PortalContext
  readonly #entered: DoubleSubmitGuard<Entered>
  readonly #declined: DoubleSubmitGuard<PortalOutcome>

  constructor(context: PortalContext) {
    this.#context = context
    this.#entered = new DoubleSubmitGuard(context.deps.clock, context.submissions)
    this.#declined = new DoubleSubmitGuard(context.deps.clock, context.submissions)
  }

  async show(request: FastifyRequest, address: BrokerAddress, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, cookies, outcomes } = this.#context
    const at = parseAddress(address)
    if (at === null) return outcomes.unknownLink(request, reply)
    const session = browserSessionOf(this.#context, request)
    const shown = await askForKeys(deps, at.token, at.broker, session)
    if (shown.kind === 'outcome') return outcomes.end(shown, request, reply)
    if (shown.kind === 'stale_form') return seeOther(reply, linkPath(at.token))
    if (session.browser !== null) cookies.browser.set(reply, session.browser)
    const [action, link] = [keysPath(at.token, at.broker), linkPath(at.token)]
    const back = shown.invitation.brokers.length > 1 ? allowPath(at.token, at.broker) : link
    const state = { now: deps.clock.now(), link, notice: cookies.noticeAt(request, action) }
    return page(reply, 200, keysPage(shown, state, { action, back }))
  }

  /** Always redirects to a GET, so that Back and Reload never submit the keys again. */
  async enter(request: FastifyRequest, address: BrokerAddress, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, cookies, outcomes } = this.#context
    const at = parseAddress(address)
    if (at === null) return outcomes.unknownLink(request, reply)
    const entry = { broker: at.broker, entered: recordOf(request.body) }
    if (entry.entered.decision === 'decline') return outcomes.endByPage(await this.#decline(request, at.token), request, reply)
    const session = browserSessionOf(this.#context, request)
    const submitted = submissionOf(this.#context, at.token, session.browser, entry)
    const next = await this.#entered.answer(
      submitted,
      async () => enteredOf(await enterKeys(deps, at.token, entry, session)),
      ({ kind }) => kind === 'outcome'
    )
    if (next.kind === 'stale_form') return seeOther(reply, linkPath(at.token))
    if (next.kind === 'outcome') return outcomes.endByPage(next, request, reply)
    const action = keysPath(at.token, at.broker)
    cookies.setNotice(reply, action, bounded(next.why))
    return seeOther(reply, action)
  }

  /** Does not read, try or store any key. */
  async #decline(request: FastifyRequest, token: string): Promise<PortalOutcome> {
    const session = browserSessionOf(this.#context, request)
    const { browser } = session
    if (browser === null) return ended(null, 'other_browser')
    const decline = () => declineAttempt(this.#context.deps, token, { ...session, browser })
    return this.#declined.answer(submissionOf(this.#context, token, browser), decline, () => true)
  }
}

function enteredOf(next: Awaited<ReturnType<typeof enterKeys>>): Entered {
  return next.kind === 'try_again' ? { kind: next.kind, why: next.why } : next
}

function parseAddress({ token, broker }: BrokerAddress): { readonly token: string; readonly broker: BrokerId } | null {
  const requested = brokerOf(broker.toUpperCase())
  return isToken(token) && requested !== null ? { token, broker: requested } : null
}
