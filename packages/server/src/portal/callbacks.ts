import { completeLogin } from '@trunkline/core/app/connect/complete-login'
import { type Ending, ended } from '@trunkline/core/app/connect/ending'
import type { Visitor } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callbackUrl, environmentOf } from './callback-url.ts'
import { noteRefusal, type PortalContext, visitorOf } from './context.ts'
import { brokerOf } from './form.ts'

export interface CallbackAddress {
  readonly broker: string
  readonly environment?: string
}

/** The browser's return from a broker's login. */
export class Callbacks {
  readonly #context: PortalContext

  constructor(context: PortalContext) {
    this.#context = context
  }

  async arrive(request: FastifyRequest, address: CallbackAddress, reply: FastifyReply): Promise<FastifyReply> {
    const visitor = visitorOf(this.#context, request)
    const broker = brokerOf(address.broker.toUpperCase())
    const ending = await this.#complete(broker, environmentOf(address.environment), request.url, visitor)
    const { reason } = ending
    if (reason === 'bad_callback' || reason === 'other_browser') noteRefusal(this.#context, request, broker, reason)
    return this.#context.endings.end(ending, request, reply)
  }

  async #complete(broker: BrokerId | null, environment: Environment | null, address: string, visitor: Visitor): Promise<Ending> {
    const at = address.indexOf('?')
    const query = new URLSearchParams(at === -1 ? '' : address.slice(at + 1))
    const [state, ...others] = query.getAll('state')
    const isContradictory = others.length > 0 || query.getAll('code').length > 1 || (query.has('code') && query.has('error'))
    if (broker === null || environment === null || state === undefined || isContradictory) return ended(null, 'bad_callback')
    const { deps, options } = this.#context
    const redirectUri = callbackUrl(options.publicUrl(), broker, environment)
    return completeLogin(deps, { broker, environment, state, redirectUri, callbackUrl: `${redirectUri}?${query.toString()}` }, visitor)
  }
}
