// The message of a failed replacement. Whether anything is left to place depends on the order that was to be replaced.
import { areEqual, isPositive, minus } from '../../domain/decimal.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { filledAlong } from '../../domain/order-machine.ts'
import type { RejectCode } from '../../domain/vocabulary.ts'
import type { SubmissionFailure } from './order-steps.ts'

/**
 * The failure of `successor`, which was to replace `before`. A broker's message is left as it is; our own advice is replaced by advice
 * about the old order.
 */
export function failedReplacement(failure: SubmissionFailure, successor: Order, before: Order | null): SubmissionFailure {
  const rejectCode = before !== null && !isOpen(before.status) ? orderEnded(failure.rejectCode) : failure.rejectCode
  if (failure.state === 'refused' || failure.state === 'refused_by_gateway' || before === null) return { ...failure, rejectCode }
  const { advice: _, ...bare } = failure
  return { ...bare, rejectCode, message: `${failure.message} ${whatIsLeft(successor, before)}` }
}

/**
 * The successor with the reject code `order_ended`, if it was rejected after the old order had ended and the broker gave no better reason.
 */
export function endedFirst(successor: Order, before: Order): Order {
  const hasEnded = !isOpen(before.status) && before.replacedByOrderId !== successor.orderId
  if (successor.status !== 'rejected' || !hasEnded || before.lastModifiedTime > successor.lastModifiedTime) return successor
  const rejectCode = orderEnded(successor.rejectCode)
  return rejectCode === successor.rejectCode ? successor : { ...successor, rejectCode }
}

function orderEnded(known: RejectCode | null): RejectCode {
  return known === null || known === 'other' ? 'order_ended' : known
}

function whatIsLeft(successor: Order, before: Order): string {
  if (isOpen(before.status))
    return 'The order that it was to replace still works unchanged: to change it, request the change again under a new cl_order_id.'
  const filled = filledAlong(before)
  const of = before.quantity === null ? '' : ` of ${before.quantity}`
  const end = before.status === 'filled' ? `filled ${filled}${of}` : `${before.status}, filled ${filled}${of}`
  return `The order that it was to replace ended first (${end}). ${unplaced(successor, filled)}`
}

function unplaced({ quantity }: Order, filled: NonNullable<Order['quantity']>): string {
  if (quantity === null) return 'None of it is working at the broker any more.'
  const left = minus(quantity, filled)
  if (!isPositive(left)) return 'Nothing of it is left to place.'
  return areEqual(left, quantity) ? 'None of it was bought or sold.' : `Of the ${quantity} requested, ${left} were not placed.`
}
