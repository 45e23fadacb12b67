/**
 * Commands of one login: checked before they are sent, sent once, and confirmed where an acceptance means only that the broker took the
 * request.
 */

import { isOpen, type OrderTicket } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type NewOrder, type OrderReport, type Outcome, type ReplaceOrder } from '@trunkline/core/ports/broker'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpRequest } from '../http.ts'
import { hasTerms, type Refusal } from '../order-rules.ts'
import { previewOf } from '../preview.ts'
import { refusedUnsent, settled } from '../settle.ts'
import type { OpenLogin, OrderDefinitions, Refused } from './definition.ts'
import type { SoleAccount } from './sole-account.ts'

export class Commands<Resource extends string, Placing> {
  readonly #definition: OrderDefinitions<Resource, Placing>
  readonly #login: OpenLogin<Resource>
  readonly #soleAccount: SoleAccount | null

  /** `soleAccount`: the only account that commands may name; null where requests name their account. */
  constructor(definition: OrderDefinitions<Resource, Placing>, login: OpenLogin<Resource>, soleAccount: SoleAccount | null) {
    this.#definition = definition
    this.#login = login
    this.#soleAccount = soleAccount
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    const { submit, resource } = this.#definition
    const { calls, clock, tracker } = this.#login
    let request: HttpRequest
    try {
      const found = this.#definition.placing(order, this.#login, 'order', signal)
      const placing = found instanceof Promise ? await found : found
      if (isRefused(placing)) return refusedUnsent(placing.refused)
      const made = submit.request(order, placing)
      if (isRefused(made)) return refusedUnsent(made.refused)
      if (this.#soleAccount !== null) await this.#soleAccount.demand(order.brokerAccountId, signal)
      request = made
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    const at = clock.now()
    const outcome = await calls.of(resource).command(request, reply => submit.interpret(reply, order, at), signal)
    if (outcome.kind === 'accepted') tracker.put(outcome.value)
    return outcome
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { replace, resource } = this.#definition
    let made: HttpRequest | Refused
    try {
      await this.#soleAccount?.demand(request.brokerAccountId, signal)
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    try {
      made = await replace.request(request, this.#login, signal)
    } catch (cause) {
      // The broker's own answer that there is no such order.
      if (cause instanceof BrokerFault && cause.kind === 'refused') return refusedUnsent({ message: cause.message, rejectCode: 'other' })
      return { kind: 'not_sent', cause }
    }
    if (isRefused(made)) return refusedUnsent(made.refused)
    const outcome = await this.#login.calls.of(resource).command(made, reply => replace.interpret(reply, request), signal)
    const { confirm } = replace
    if (outcome.kind !== 'accepted' || confirm === undefined) return outcome
    const look = () => confirm.look(request, outcome.value, this.#login, signal)
    return await settled({ clock: this.#login.clock, pausesMs: confirm.pausesMs }, look, signal)
  }

  async cancel(brokerAccountId: string, brokerOrderId: string, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { cancel, resource } = this.#definition
    const sole = this.#soleAccount
    const own = () => cancel.request(brokerAccountId, brokerOrderId)
    const request = sole === null ? own : () => sole.demand(brokerAccountId, signal).then(own)
    return await this.#login.calls.of(resource).command(request, reply => cancel.interpret(reply, brokerOrderId), signal)
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    const { preview, resource } = this.#definition
    if (preview === null) throw new BrokerFault('refused', 'the broker previews no orders')
    const placing = await this.#definition.placing(order, this.#login, 'read', signal)
    if (isRefused(placing)) return { kind: 'refused', ...placing.refused, brokerStatus: null }
    const request = preview.request(order, placing)
    if (isRefused(request)) return { kind: 'refused', ...request.refused, brokerStatus: null }
    if (!preview.isPreview(request)) throw new TypeError('a request that the broker does not take for a preview is an order')
    return previewOf(await this.#login.calls.of(resource).ask(request, reply => preview.interpret(reply, order), signal))
  }
}

function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'refused' in value
}

/** The request of a broker that changes orders in place: the order is read first, because not every change is possible. */
export function changedInPlace<Resource extends string>({
  refusal,
  request
}: {
  /** Why the order as it is cannot get these terms. */
  readonly refusal: (before: OrderReport, ticket: OrderTicket) => Refusal | null
  readonly request: (request: ReplaceOrder, at: Timestamp) => HttpRequest | Refused
}): OrderDefinitions<Resource, unknown>['replace']['request'] {
  return async (replacement, { orders, clock }, signal) => {
    const { brokerAccountId, brokerOrderId, ticket } = replacement
    const before = await orders.order(brokerAccountId, brokerOrderId, signal)
    if (!isOpen(before.status))
      return { refused: { message: `The order cannot be changed any more: it is ${before.brokerStatus}.`, rejectCode: 'other' } }
    const refused = refusal(before, ticket)
    return refused === null ? request(replacement, clock.now()) : { refused }
  }
}

/** Confirms a change of an order that keeps its id: it is read until it has the new terms, or the broker refuses to show it each time. */
export function shownTerms<Resource extends string>(
  pausesMs: readonly number[],
  isChanged: (order: OrderReport, ticket: OrderTicket) => boolean = hasTerms
): NonNullable<OrderDefinitions<Resource, unknown>['replace']['confirm']> {
  return {
    pausesMs,
    async look(request, _accepted, login, signal) {
      const report = await shownOrder(request, login, signal)
      return report !== null && isChanged(report, request.ticket) ? { kind: 'accepted', value: { ...report, brokerClOrdId: null } } : null
    }
  }
}

/** The order that is to be replaced; null when the broker refuses to show it. @throws BrokerFault */
export async function shownOrder<Resource extends string>(
  { brokerAccountId, brokerOrderId }: ReplaceOrder,
  { orders }: OpenLogin<Resource>,
  signal: AbortSignal
): Promise<OrderReport | null> {
  try {
    return await orders.order(brokerAccountId, brokerOrderId, signal)
  } catch (fault) {
    if (fault instanceof BrokerFault && fault.kind === 'refused') return null
    throw fault
  }
}
