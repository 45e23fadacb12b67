// Sending an order so that it is never lost and never doubled, whatever becomes of the answers.
import { TrunklineError } from '../errors.ts'
import type { Answer, Exchange } from '../exchange.ts'
import { listOrders, ORDER_REFUSALS, type Order, readOrder } from '../generated/openapi.ts'
import type { Operation, OperationShape, Params } from '../operation.ts'
import { repeated } from '../transport.ts'
import { matched } from './terms.ts'
import { mayDiffer } from './trading-day.ts'

/** An operation that answers an order. */
export interface OrderShape extends OperationShape {
  readonly answer: Order
}

const LOOK_UPS = 8
const DAY_MS = 86_400_000
/** The `date` of an answer counts seconds, and the clocks of two nodes differ a little. */
const SLACK_MS = 3_000

/**
 * Sends a request for an order until its outcome is known. After an answer that was lost, the same request goes out again under the same
 * id: the service makes it once, and names the order that has the id, which is read and compared. Once the trading day may have changed,
 * the id could be used again, so from then on the order is only looked up, also after a refusal that asked to wait.
 * @param isOwnId the id was made for this call, so nobody else's order has it
 * @param asked what the order must match
 * @throws TrunklineError with `clOrderId`: what the service answered when no request before had been lost, cl_order_id_taken,
 * outcome_unknown, aborted, or why no request got through.
 */
export async function commandOnce<S extends OrderShape>(
  exchange: Exchange,
  operation: Operation<S>,
  params: Params<S>,
  clOrderId: string,
  isOwnId: boolean,
  asked: object
): Promise<Answer<Order>> {
  const { now } = exchange.clock
  const firstAt = now()
  /** A request may have been carried out whose answer did not come. */
  let mayExist = false
  /** A request has left this machine. Its refusal proves nothing over midnight: something on the way may have sent the request twice. */
  let wasSent = false
  let orderId: string | null = null
  // By either clock: ours may be wrong, and what answered last may be no clock of the service's.
  const isLate = () => wasSent && [0, exchange.clock.skewMs].some(skewMs => mayDiffer(firstAt + skewMs, now() + skewMs))

  try {
    return (await send()) ?? (await lookUp())
  } catch (cause) {
    const error = asOurs(cause)
    const { status, requestId, code, message } = error
    if (!mayExist || error.order) throw new TrunklineError(code, message, { ...error, clOrderId })
    const unknown = `It is unknown whether the order ${clOrderId} was placed: look for it. ${message}`
    throw new TrunklineError(code === 'aborted' ? code : 'outcome_unknown', unknown, { status, requestId, clOrderId, orderId })
  }

  /** Null once the order can only be looked up. */
  async function send(): Promise<Answer<Order> | null> {
    for (;;) {
      let error: TrunklineError
      try {
        const answer = await exchange.attempt(operation, params, false)
        if (answer.data.cl_order_id === clOrderId) return answer
        throw OTHER
      } catch (cause) {
        error = asOurs(cause)
      }
      const isRefusal = isRefused(error)
      wasSent ||= error.status !== null || !error.retrySafe
      if (isRefusal && error.code === 'cl_order_id_duplicate' && error.orderId && (mayExist || isOwnId)) {
        mayExist = true
        orderId = error.orderId
        exchange.renew()
        return recognised([await repeated(exchange, readOrder, { order_id: orderId })])
      }
      if (isRefusal && !mayExist) throw error
      mayExist ||= (!isRefusal && !error.retrySafe) || isLate()
      // What is refused now says nothing of the request that was lost: only its order can.
      if (isRefusal || isLate()) return null
      try {
        await exchange.pause(error)
      } catch (cause) {
        if (!mayExist || asOurs(cause).code === 'aborted') throw cause
        return null
      }
      if (isLate()) {
        mayExist = true
        return null
      }
    }
  }

  /** Looks for the order for a while: the request may still be under way at the service. */
  async function lookUp(): Promise<Answer<Order>> {
    const startMs = firstAt + Math.min(0, exchange.clock.skewMs) - DAY_MS
    const query = { cl_order_id: clOrderId, start_time: new Date(startMs).toISOString() }
    exchange.renew()
    for (;;) {
      let error = new TrunklineError('outcome_unknown', 'It is not there yet.')
      try {
        const { data, meta } = await exchange.attempt(listOrders, query, true)
        // By the service's clock: an older order with this id is one of another day, and one that is newer than the answer's own date
        // says that this is no date of the service's.
        const { skewMs } = exchange.clock
        const found = data.data.filter(each => {
          const at = Date.parse(each.entry_time) - skewMs
          return each.cl_order_id === clOrderId && at >= firstAt - SLACK_MS && (!skewMs || at <= now() + SLACK_MS)
        })
        if (found[0]) return recognised(found.map(order => ({ data: order, meta })))
      } catch (cause) {
        error = asOurs(cause)
        if (!error.retrySafe) throw error
      }
      await exchange.pause(error, LOOK_UPS)
    }
  }

  /** The order that was asked for, among those that are said to have its id: a day may have another one under the same. */
  function recognised(found: readonly Answer<Order>[]): Answer<Order> {
    const named = found.filter(({ data }) => data.cl_order_id === clOrderId && (orderId ?? data.order_id) === data.order_id)
    const [any] = named
    if (!any) throw OTHER
    const matches = named.map(({ data }) => matched(asked, data))
    const same = named[matches.indexOf('same')]
    if (same) return same
    const {
      data: order,
      meta: { requestId }
    } = named[matches.indexOf('unsure')] ?? any
    const about = { order, orderId: order.order_id, requestId }
    // The ids of two days are two: the order may be in the day before.
    if (!matches.includes('unsure') && !isLate())
      throw new TrunklineError('cl_order_id_taken', 'Another order has this id: nothing was placed.', { ...about, nothingDone: true })
    throw new TrunklineError('outcome_unknown', 'The order with this id has other terms, perhaps changed by its broker.', about)
  }
}

/** Thrown of an answer about another order; {@link asOurs} makes the error. */
const OTHER = 'The answer is not about this order.'

/** The service's own word that it does not make this order. A proxy can say nothing of the kind. */
function isRefused({ code, status }: TrunklineError): boolean {
  return status === null ? code === 'setting_invalid' : ORDER_REFUSALS.test(`${status} ${code}`)
}

/** An answer of another form than the service's may fail anywhere, and says nothing of the order. */
function asOurs(cause: unknown): TrunklineError {
  return cause instanceof TrunklineError ? cause : new TrunklineError('answer_unreadable', OTHER)
}
