import { completeLogin } from '@trunkline/core/app/connect/complete-login'
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import type { BrowserSession } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Begun, endWithoutUser } from './begun-login.ts'
import { callbackUrl, environmentOf } from './callback-url.ts'
import { browserSessionOf, noteRefusal, type PortalContext, returnOf } from './context.ts'
import { DoubleSubmitGuard } from './double-submit.ts'
import { brokerOf } from './form.ts'

export interface CallbackAddress {
  readonly broker: string
  readonly environment?: string
}

/** Handles the browser's return from a broker's login. */
export class Callbacks {
  readonly #context: PortalContext
  readonly #arrived: DoubleSubmitGuard<PortalOutcome>

  constructor(context: PortalContext) {
    this.#context = context
    this.#arrived = new DoubleSubmitGuard(context.deps.clock, context.submissions)
  }

  async arrive(request: FastifyRequest, address: CallbackAddress, reply: FastifyReply): Promise<FastifyReply> {
    const session = browserSessionOf(this.#context, request)
    const broker = brokerOf(address.broker.toUpperCase())
    const begun = this.#context.cookies.begun.of(request, session.browser, queryOf(request.url).get('state'))
    const { outcome, isFirst } = await this.#completeOnce(broker, environmentOf(address.environment), request.url, session, begun)
    if (isRefused(outcome)) noteRefusal(this.#context, request, broker, outcome.reason)
    else if (!isFirst) return this.#context.outcomes.repeat(outcome, request, reply)
    return this.#context.outcomes.end(outcome, request, reply)
  }

  /**
   * If the user clicks twice at the broker, the callback arrives twice, and the browser shows the second response. The state is still valid
   * only once: the second callback does no work and redirects to where the first one did.
   */
  async #completeOnce(
    broker: BrokerId | null,
    environment: Environment | null,
    address: string,
    session: BrowserSession,
    begun: Begun | null
  ): Promise<{ readonly outcome: PortalOutcome; readonly isFirst: boolean }> {
    let isFirst = false
    const complete = async () => {
      isFirst = true
      const outcome = await this.#complete(broker, environment, address, session)
      return isRefused(outcome) ? ((await endWithoutUser(this.#context.deps.store.users, begun)) ?? outcome) : outcome
    }
    const state = queryOf(address).get('state')
    const arrival = returnOf(this.#context, address, session.browser, state)
    const outcome = await this.#arrived.answer(arrival, complete, given => !isRefused(given))
    return { outcome, isFirst }
  }

  async #complete(
    broker: BrokerId | null,
    environment: Environment | null,
    address: string,
    session: BrowserSession
  ): Promise<PortalOutcome> {
    const query = queryOf(address)
    const [state, ...others] = query.getAll('state')
    const isContradictory = others.length > 0 || query.getAll('code').length > 1 || (query.has('code') && query.has('error'))
    if (broker === null || environment === null || state === undefined || isContradictory) return ended(null, 'bad_callback')
    const { deps, options } = this.#context
    const redirectUri = callbackUrl(options.publicUrl(), broker, environment)
    return completeLogin(deps, { broker, environment, state, redirectUri, callbackUrl: `${redirectUri}?${query.toString()}` }, session)
  }
}

function queryOf(address: string): URLSearchParams {
  const at = address.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : address.slice(at + 1))
}

/** Whether the callback belongs to no attempt of this browser. */
function isRefused({ reason }: PortalOutcome): boolean {
  return reason === 'bad_callback' || reason === 'other_browser'
}
