/**
 * Replacing an order at Alpaca. A success means that a new order was created; it replaces the old one later, or is rejected because the old one
 * filled first. And the new order begins with nothing filled, so it is requested for what is left.
 */

import { areEqual, compare, type Decimal, isPositive, isZero, minus, plus, ZERO } from '@trunkline/core/domain/decimal'
import { BrokerFault, type OrderReport, type Outcome, type ReplaceOrder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Calls } from '../kit/calls.ts'
import { refused, refusedUnsent, settled } from '../kit/settle.ts'
import { interpretReplace } from './outcomes.ts'
import { replaceRequest } from './requests.ts'
import { isFraction, replaceRefusalOf } from './ticket.ts'

/** Before each look at whether the old order has given way. */
const PAUSES_MS = [0, 200, 800]
const FRACTION = 'Alpaca cannot replace the quantity of an order of fractions of a share; cancel it and place a new one.'

interface ReplacementParts {
  readonly calls: Calls
  readonly clock: Clock
}

export class Replacement {
  readonly #parts: ReplacementParts
  readonly #find: (brokerOrderId: string, signal: AbortSignal) => Promise<OrderReport | null>

  constructor(parts: ReplacementParts, find: (brokerOrderId: string, signal: AbortSignal) => Promise<OrderReport | null>) {
    this.#parts = parts
    this.#find = find
  }

  async carryOut(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const refusal = replaceRefusalOf(request.ticket)
    if (refusal !== null) return refusedUnsent(refusal.message, refusal.rejectCode)
    let old: OrderReport | null
    try {
      old = await this.#find(request.brokerOrderId, signal)
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    // Without it what is left is unknown, and the whole total again may be too much.
    if (old === null)
      return { kind: 'not_sent', cause: new BrokerFault('refused', 'Alpaca does not show the order that is to be replaced') }
    const wanted = quantityFor(request, old)
    if ('refusal' in wanted) return refusedUnsent(wanted.refusal, 'quantity_invalid')
    const requested = replaceRequest(request.brokerOrderId, { ...request, quantity: wanted.quantity })
    const outcome = await this.#parts.calls.command(requested, reply => interpretReplace(reply, request), signal)
    return outcome.kind === 'accepted' ? await this.#settled(request.brokerOrderId, outcome.value, signal) : outcome
  }

  /** A look-up of a replacement that Alpaca has not decided on proves nothing yet. @throws BrokerFault */
  async demandDecided(made: OrderReport, signal: AbortSignal): Promise<void> {
    if (made.replacesBrokerOrderId === null || made.status !== 'pending') return
    const old = await this.#find(made.replacesBrokerOrderId, signal)
    if (old?.status === 'pending_replace') throw new BrokerFault('unreachable', 'Alpaca has not decided on the replacement yet')
  }

  /** Whether the new order has replaced the old one. */
  #settled(brokerOrderId: string, made: OrderReport, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const look = async (): Promise<Outcome<OrderReport> | null> => {
      const old = await this.#find(brokerOrderId, signal)
      if (old?.status === 'replaced') return { kind: 'accepted', value: made }
      if (old?.status === 'pending_replace') return null
      const now = await this.#find(made.brokerOrderId, signal)
      if (now?.status !== 'rejected') return null
      return refused(`Alpaca did not replace the order: it is ${old?.brokerStatus ?? 'gone'}.`, 'other', now.brokerStatus)
    }
    return settled({ clock: this.#parts.clock, pausesMs: PAUSES_MS }, look, signal)
  }
}

/** What is left of the new total; null where it equals the old order's quantity and can stay out of the request. */
function quantityFor(request: ReplaceOrder, old: OrderReport): { readonly quantity: Decimal | null } | { readonly refusal: string } {
  const { ticket } = request
  const quantity = lesser(ticket.quantity, old.quantity, request.totalChange)
  if (quantity === null) return { quantity }
  const filled = old.filledTotal?.quantity ?? ZERO
  if (isZero(filled) && areEqual(old.quantity, quantity)) return { quantity: null }
  const left = minus(quantity, filled)
  if (!isPositive(left)) return { refusal: 'As much as the new total, or more, has filled already.' }
  return ticket.instrument === 'STK' && isFraction(left) ? { refusal: FRACTION } : { quantity: left }
}

/**
 * What the new order may be for with what the old one has filled. An execution of an order before the old one may not be reported yet, and would be requested
 * again; the old order's own quantity is without it.
 */
function lesser(requested: Decimal | null, old: Decimal | null, totalChange: Decimal | undefined): Decimal | null {
  if (requested === null || old === null || totalChange === undefined) return requested
  const shown = plus(old, totalChange)
  return compare(shown, requested) < 0 ? shown : requested
}
