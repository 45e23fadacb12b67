import { declineAttempt } from '@trunkline/core/app/connect/decide'
import { askForKeys, type EnteredKeys, enterKeys } from '@trunkline/core/app/connect/enter-keys'
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onward, page } from './answer.ts'
import { formId, type PortalContext, visitorOf } from './context.ts'
import { allowPath, brokerOf, isToken, keysPath, linkPath, recordOf } from './form.ts'
import { bounded } from './notice.ts'
import { keysPage } from './render.ts'
import { SecondClicks } from './second-clicks.ts'

export interface BrokerAddress {
  readonly token: string
  readonly broker: string
}

/** The step with keys of the user's own. Its page lets no form lead to any other origin. */
export class KeySteps {
  readonly #context: PortalContext
  readonly #entered: SecondClicks<EnteredKeys>
  readonly #declined: SecondClicks<PortalOutcome>

  constructor(context: PortalContext) {
    this.#context = context
    this.#entered = new SecondClicks(context.deps.clock)
    this.#declined = new SecondClicks(context.deps.clock)
  }

  async show(request: FastifyRequest, address: BrokerAddress, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, cookies, endings } = this.#context
    const at = placeOf(address)
    if (at === null) return endings.unknownLink(request, reply)
    const visitor = visitorOf(this.#context, request)
    const shown = await askForKeys(deps, at.token, at.broker, visitor)
    if (shown.kind === 'outcome') return endings.end(shown, request, reply)
    if (shown.kind === 'stale_form') return onward(reply, linkPath(at.token))
    if (visitor.browser !== null) cookies.browser.give(reply, visitor.browser)
    const [action, link] = [keysPath(at.token, at.broker), linkPath(at.token)]
    const back = shown.invitation.brokers.length > 1 ? allowPath(at.token, at.broker) : link
    const state = { now: deps.clock.now(), link, notice: cookies.noticeAt(request, action) }
    return page(reply, 200, keysPage(shown, state, { action, back }))
  }

  /** Whatever comes of it is shown by GET: Back and a page that is loaded again send no keys again. */
  async enter(request: FastifyRequest, address: BrokerAddress, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, cookies, endings } = this.#context
    const at = placeOf(address)
    if (at === null) return endings.unknownLink(request, reply)
    const entry = { broker: at.broker, entered: recordOf(request.body) }
    if (entry.entered.decision === 'decline') return endings.endByPage(await this.#decline(request, at.token), request, reply)
    const visitor = visitorOf(this.#context, request)
    const form = formId(this.#context, at.token, visitor.browser, entry)
    const next = await this.#entered.answer(
      form,
      () => enterKeys(deps, at.token, entry, visitor),
      ({ kind }) => kind === 'outcome'
    )
    if (next.kind === 'stale_form') return onward(reply, linkPath(at.token))
    if (next.kind === 'outcome') return endings.endByPage(next, request, reply)
    const action = keysPath(at.token, at.broker)
    cookies.giveNotice(reply, action, bounded(next.why))
    return onward(reply, action)
  }

  /** No key is read, tried or kept. */
  async #decline(request: FastifyRequest, token: string): Promise<PortalOutcome> {
    const visitor = visitorOf(this.#context, request)
    const { browser } = visitor
    if (browser === null) return ended(null, 'other_browser')
    const decline = () => declineAttempt(this.#context.deps, token, { ...visitor, browser })
    return this.#declined.answer(formId(this.#context, token, browser), decline, () => true)
  }
}

function placeOf({ token, broker }: BrokerAddress): { readonly token: string; readonly broker: BrokerId } | null {
  const asked = brokerOf(broker.toUpperCase())
  return isToken(token) && asked !== null ? { token, broker: asked } : null
}
