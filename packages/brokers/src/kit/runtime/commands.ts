/** Commands of one login: checked before they are sent, sent once, and confirmed where an acceptance means only that the broker took the request. */

import { isOpen, type OrderTicket } from '@trunkline/core/domain/order'
import { BrokerFault, type NewOrder, type OrderReport, type Outcome, type ReplaceOrder } from '@trunkline/core/ports/broker'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpRequest } from '../http.ts'
import type { Refusal } from '../order-rules.ts'
import { previewOf } from '../preview.ts'
import type { CallPriority } from '../rate-limiter.ts'
import { refusedUnsent, settled } from '../settle.ts'
import type { Login, OrderDefinitions, Refused } from './definition.ts'

export class Commands<Resource extends string, Placing> {
  readonly #definition: OrderDefinitions<Resource, Placing>
  readonly #login: Login<Resource>

  constructor(definition: OrderDefinitions<Resource, Placing>, login: Login<Resource>) {
    this.#definition = definition
    this.#login = login
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    const { submit, resource } = this.#definition
    const { calls, clock, tracker } = this.#login
    let request: HttpRequest
    try {
      const placing = await this.#placing(order, 'order', signal)
      if (isRefused(placing)) return unsent(placing.refused)
      request = submit.request(order, placing)
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    const at = clock.now()
    const outcome = await calls.of(resource).command(request, reply => submit.interpret(reply, order, at), signal)
    if (outcome.kind === 'accepted') tracker.put(outcome.value)
    return outcome
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { replace, resource, refusal } = this.#definition
    const { brokerAccountId, brokerOrderId, ticket } = request
    let made: HttpRequest | Refused
    try {
      const before = await this.#login.orders.order(brokerAccountId, brokerOrderId, signal)
      if (!isOpen(before.status)) return refusedUnsent(`The order cannot be changed any more: it is ${before.brokerStatus}.`, 'other')
      const known = refusal(ticket) ?? replace.refusal(before, ticket)
      if (known !== null) return unsent(known)
      made = replace.request(request, before, this.#login.clock.now())
    } catch (cause) {
      // The broker's own answer that there is no such order.
      if (cause instanceof BrokerFault && cause.kind === 'refused') return refusedUnsent(cause.message, 'other')
      return { kind: 'not_sent', cause }
    }
    if (isRefused(made)) return unsent(made.refused)
    const outcome = await this.#login.calls.of(resource).command(made, reply => replace.interpret(reply, request), signal)
    return outcome.kind === 'accepted' ? await this.#confirmed(request, ticket, signal) : outcome
  }

  async cancel(brokerAccountId: string, brokerOrderId: string, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { cancel, resource } = this.#definition
    const request = () => cancel.request(brokerAccountId, brokerOrderId)
    const outcome = await this.#login.calls.of(resource).command(request, reply => cancel.interpret(reply, brokerOrderId), signal)
    return outcome.kind === 'accepted' ? { kind: 'accepted', value: null } : outcome
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    const { preview, resource } = this.#definition
    const placing = await this.#placing(order, 'read', signal)
    if (isRefused(placing)) return { kind: 'refused', ...placing.refused, brokerStatus: null }
    const request = preview.request(order, placing)
    if (!preview.isPreview(request)) throw new TypeError('a request that the broker does not take for a preview is an order')
    return previewOf(await this.#login.calls.of(resource).ask(request, reply => preview.interpret(reply, order), signal))
  }

  async #placing(order: PreviewOrder, kind: CallPriority, signal: AbortSignal): Promise<Placing | Refused> {
    const refused = this.#definition.refusal(order)
    return refused === null ? await this.#definition.placing(order, this.#login, kind, signal) : { refused }
  }

  /** The broker accepts a change before it makes it. */
  #confirmed(
    { brokerAccountId, brokerOrderId }: ReplaceOrder,
    ticket: OrderTicket,
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    const { pausesMs, shows } = this.#definition.replace
    const look = async (): Promise<Outcome<OrderReport> | null> => {
      const report = await this.#login.orders.order(brokerAccountId, brokerOrderId, signal)
      return shows(report, ticket) ? { kind: 'accepted', value: { ...report, brokerClOrdId: null } } : null
    }
    return settled({ clock: this.#login.clock, pausesMs }, look, signal)
  }
}

function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'refused' in value
}

function unsent({ message, rejectCode }: Refusal): Outcome<never> {
  return refusedUnsent(message, rejectCode)
}
