/** The operations of customers: submit, amend and cancel, with the sandbox's own checks and faults. */

import type { OrderView, PreviewView, RefusedEvent, SubmitCommand, SubmitMultiLegCommand } from '../engine/types.ts'
import type { BrokerageClock } from './clock.ts'
import type { Customers } from './customers.ts'
import type { EventPublisher } from './event-publisher.ts'
import type { Fault } from './faults.ts'
import { Problem, refusalOf, refused } from './problems.ts'
import type { BrokerageState } from './state.ts'
import { isLive, orderWire } from './wire.ts'

export type Ticket = Omit<SubmitCommand, 'type' | 'at' | 'clientOrderId'> & { readonly clientOrderId: string | null }

export type MultiLegTicket = Omit<SubmitMultiLegCommand, 'type' | 'at' | 'clientOrderId'> & { readonly clientOrderId: string | null }

/** The ticket of an order to preview. */
export type PreviewTicket = Omit<Ticket, 'clientOrderId'> | Omit<MultiLegTicket, 'clientOrderId'>

export interface Amendment {
  readonly clientOrderId: string | null
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

type Submit = SubmitCommand | SubmitMultiLegCommand

export interface OrderServiceDeps {
  readonly state: BrokerageState
  readonly customers: Customers
  readonly publisher: EventPublisher
  readonly clock: BrokerageClock
  readonly newId: () => string
  /** Runs `work` after this many real milliseconds, unless the sandbox has closed. */
  readonly later: (ms: number, work: () => void) => void
}

/** Both ends of an amendment; `superseded` null: pending. */
export interface Amended {
  readonly order: OrderView
  readonly superseded: OrderView | null
}

export class OrderService {
  readonly #deps: OrderServiceDeps

  constructor(deps: OrderServiceDeps) {
    this.#deps = deps
  }

  wire(order: OrderView): object {
    return orderWire(order, this.#deps.state.overlay(order.orderId))
  }

  /** The login's order, unless it does not exist, is not theirs, or is hidden. @throws Problem `unknown_order` */
  own(login: string, orderId: string): OrderView {
    const accounts = this.#deps.customers.accountsOf(login).map(({ id }) => id)
    const order = this.#deps.state.order(accounts, { orderId })
    if (typeof order === 'object' && !this.#deps.publisher.isHidden(orderId)) return order
    throw new Problem('unknown_order', `no order ${orderId.slice(0, 64)} of yours`)
  }

  /** @throws Problem for every refusal, with the rejected order if the engine kept one. */
  submit(ticket: Ticket | MultiLegTicket, fault: Fault | undefined): OrderView {
    const clientOrderId = ticket.clientOrderId ?? `sandbox-${this.#deps.newId()}`
    const at = this.#deps.clock.now()
    const command: Submit =
      'legs' in ticket ? { ...ticket, type: 'submit_package', at, clientOrderId } : { ...ticket, type: 'submit', at, clientOrderId }
    if (fault?.do === 'hide') return this.#submitHidden(command, fault.ms)
    const order = this.#submit(command)
    if (fault?.do === 'refuse_later') this.#refuseLater(order, fault)
    return order
  }

  /** The effect that the order would have; places nothing. @throws Problem for what would be refused */
  preview(ticket: PreviewTicket): PreviewView {
    const seen = this.#deps.state.engine.preview({ ...ticket, at: this.#deps.clock.now() })
    if ('code' in seen) throw refused(seen.code, seen.message, null)
    return seen
  }

  /** Exercises a long option before expiration. @throws Problem for every refusal */
  exercise(accountId: string, symbol: string, quantity: string): void {
    const first = this.#deps.state.run({ type: 'exercise', at: this.#deps.clock.now(), accountId, symbol, quantity })[0]
    if (first?.type === 'refused') throw this.#refusal(first)
  }

  /** @throws Problem */
  cancel(order: OrderView, fault: Fault | undefined): OrderView {
    this.#mustBeFree(order)
    if (fault?.do !== 'slow') return this.#cancel(order)
    this.#slowly(order, 'cancelling', fault.ms, () => this.#cancel(order))
    return order
  }

  /** @throws Problem */
  amend(order: OrderView, wanted: Amendment, fault: Fault | undefined): Amended {
    this.#mustBeFree(order)
    const clientOrderId = wanted.clientOrderId ?? `sandbox-${this.#deps.newId()}`
    if (fault?.do !== 'slow') return this.#amend(order, { ...wanted, clientOrderId })
    this.#slowly(order, 'amending', fault.ms, () => this.#amend(order, { ...wanted, clientOrderId }))
    return { order, superseded: null }
  }

  /** Reveals a hidden order early; does nothing if it is not hidden. */
  reveal(order: OrderView): void {
    this.#deps.publisher.reveal(order.orderId)
  }

  #submit(command: Submit): OrderView {
    const first = this.#deps.state.run(command)[0]
    if (first?.type === 'refused') throw this.#refusal(first)
    if (first?.type !== 'order') throw new Error('the engine left a submit without an answer')
    const order = this.#deps.state.again(first.order)
    const refusal = refusalOf(order)
    if (refusal !== undefined) throw refused(refusal.code, refusal.message, this.wire(order))
    return order
  }

  #submitHidden(command: Submit, ms: number): OrderView {
    const order = this.#deps.publisher.hiding(() => this.#submit(command))
    this.#deps.later(ms, () => this.#deps.publisher.reveal(order.orderId))
    return order
  }

  #refuseLater(order: OrderView, { code, message }: Fault): void {
    if (!isLive(order)) return
    this.#deps.state.refuseLater(order.orderId, code ?? 'refused_by_operator', message ?? 'The operator has refused this order.')
    this.#cancel(order)
  }

  #cancel(order: OrderView): OrderView {
    const { accountId, orderId } = order
    const events = this.#deps.state.run({ type: 'cancel', at: this.#deps.clock.now(), accountId, order: { orderId } })
    const first = events[0]
    if (first?.type === 'refused') throw this.#refusal(first)
    return this.#deps.state.again(order)
  }

  #amend(order: OrderView, { clientOrderId, ...wanted }: Amendment & { readonly clientOrderId: string }): Amended {
    const { accountId, orderId } = order
    const at = this.#deps.clock.now()
    const events = this.#deps.state.run({ type: 'replace', at, accountId, order: { orderId }, newClientOrderId: clientOrderId, ...wanted })
    const first = events[0]
    if (first?.type === 'refused') throw this.#refusal(first, clientOrderId)
    const replacement = events.find(event => event.type === 'order' && event.order.replaces === orderId)
    if (replacement?.type !== 'order') throw new Error('the engine left a replace without an answer')
    return { order: this.#deps.state.again(replacement.order), superseded: this.#deps.state.again(order) }
  }

  #mustBeFree(order: OrderView): void {
    const busy = this.#deps.state.overlay(order.orderId)?.busy ?? null
    if (busy === null) return
    throw new Problem('order_busy', `the order is ${busy}; wait for the outcome`, { order: this.wire(order) })
  }

  #slowly(order: OrderView, busy: 'cancelling' | 'amending', ms: number, handle: () => unknown): void {
    if (!isLive(order)) throw new Problem('order_not_open', 'the order is no longer open', { order: this.wire(order) })
    this.#deps.state.setBusy(order.orderId, busy)
    this.#deps.publisher.publishAgain(order)
    this.#deps.later(ms, () => {
      this.#deps.state.setBusy(order.orderId, null)
      try {
        handle()
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        this.#deps.publisher.publishAgain(order)
      }
    })
  }

  #refusal({ code, message, refers, accountId }: RefusedEvent, clientOrderId: string | null = null): Problem {
    // A refused amendment refers to the order it was for; with a duplicate id, to the order that has the id.
    const holder = code === 'duplicate_client_order_id' && accountId !== null && clientOrderId !== null
    const found = holder ? this.#deps.state.order([accountId], { clientOrderId }) : refers
    return refused(code, message, typeof found === 'object' && found !== null ? this.wire(found) : null)
  }
}
