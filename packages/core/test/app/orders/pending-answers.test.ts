// What distinguishes one request of an order from the next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelRequested, replaceRequested } from '@trunkline/core/app/execution/order-steps'
import { pendingAnswerOf, requestName } from '@trunkline/core/app/execution/pending-answers'
import type { Order, PendingRequest } from '@trunkline/core/domain/order'
import { apply } from '@trunkline/core/domain/order-machine'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { anOrder } from '../../domain/an-order.ts'

const AT = parseTimestamp('2026-11-20T15:00:00Z', 'at')

/** In the form in which the order writer stores it. */
function stored(next: { readonly order: Order } | null): Order & { readonly pendingRequest: PendingRequest } {
  assert.ok(next !== null && next.order.pendingRequest !== null)
  const { order } = next
  return { ...order, pendingRequest: next.order.pendingRequest, revision: order.revision + 1 }
}

/** The broker refused the request, and the order works on. */
function refused(order: Order): Order {
  return { ...apply(order, { type: 'status', to: 'working', at: AT, releases: true }).order, revision: order.revision + 1 }
}

test('two cancels of one order are two requests, even with the same time', () => {
  const first = stored(cancelRequested(anOrder(), AT))
  const second = stored(cancelRequested(refused(first), AT))
  assert.deepEqual([second.pendingRequest.requestedAt, second.pendingRequest.sentAt], [first.pendingRequest.requestedAt, AT])
  assert.notEqual(pendingAnswerOf(second), pendingAnswerOf(first))
  assert.notEqual(requestName(second.pendingRequest), requestName(first.pendingRequest))
})

test('other changes of an order do not change its pending request', () => {
  const requested = stored(cancelRequested(anOrder(), AT))
  const later = { ...requested, revision: requested.revision + 3, pendingRequest: { ...requested.pendingRequest, takenAt: AT } }
  assert.equal(pendingAnswerOf(later), pendingAnswerOf(requested))
  assert.equal(requestName(later.pendingRequest), requestName(requested.pendingRequest))
})

test('a cancel that waited behind a replacement is a different request than the replacement', () => {
  const order = anOrder()
  const replacing = stored(replaceRequested(order, order.orderId, AT))
  const waiting = stored(cancelRequested(replacing, AT))
  const freed = refused(waiting)
  assert.equal(freed.pendingRequest?.kind, 'cancel')
  assert.notEqual(pendingAnswerOf(freed), pendingAnswerOf(waiting))
})

test('a request from before revisions existed is identified by its times', () => {
  const { ofRevision: _, ...old } = stored(cancelRequested(anOrder(), AT)).pendingRequest
  assert.notEqual(requestName(old), requestName({ ...old, sentAt: null }))
})
