// Orders for a user of the sandbox. Each request is sent once, and an answer that was lost is never taken for a refusal.
import type { Practice } from '../../../server/src/http/docs/live/client/trading/practice.js'
import { API, type ChangeRequest, carryOut, change, get, isOutcomeUnknown, Refusal, read } from '../api.ts'
import type { Order, OrderPreview } from '../generated/admin.ts'

/** A request that failed, as the ticket takes it. */
export class OrderFailure extends Error {
  override readonly name = 'OrderFailure'
  /** Null without an answer. */
  readonly status: number | null
  /** True only if the service says that nothing was done. */
  readonly nothingDone: boolean

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.status = cause instanceof Refusal && cause.status !== 0 ? cause.status : null
    this.nothingDone = !isOutcomeUnknown(cause)
  }
}

/** Requests about orders of a user. They throw {@link OrderFailure}. */
export function ordersOf(userKey: string): Practice['orders'] {
  const user = { user_key: userKey }
  const path = `${API}/sandbox/users/${encodeURIComponent(userKey)}/orders`
  return {
    preview: terms => sent<OrderPreview>({ method: 'POST', path: `${path}/preview`, body: terms }),
    place: order => sent<Order>({ method: 'POST', path, body: order }),
    cancel: ({ account_id, order_id }) =>
      sent(
        change('DELETE /sandbox/users/{user_key}/accounts/{account_id}/orders/{order_id}', { ...user, account_id, order_id }, undefined)
      ),
    read: orderId => failing(read(get('/sandbox/users/{user_key}/orders/{order_id}', { ...user, order_id: orderId }))),
    async find(clOrderId) {
      const page = await failing(read(get('/sandbox/users/{user_key}/orders', user, { cl_order_id: clOrderId, limit: '1' })))
      return page.data[0] ?? null
    }
  }
}

function sent<Answer>(request: ChangeRequest<Answer>): Promise<Answer> {
  return failing(carryOut(request))
}

async function failing<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (cause) {
    throw new OrderFailure(cause)
  }
}

/** What a list of orders is put together from. */
interface Known {
  readonly order_id: string
  readonly revision: number
}

/** Each order once, with its highest revision: an answer to a request may be newer than a list, and a list newer than an answer. */
export function newestOf<Row extends Known>(...lists: readonly Iterable<Row>[]): readonly Row[] {
  const newest = new Map<string, Row>()
  for (const list of lists)
    for (const order of list) if ((newest.get(order.order_id)?.revision ?? -1) < order.revision) newest.set(order.order_id, order)
  return [...newest.values()]
}
