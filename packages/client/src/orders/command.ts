// Sending an order so that it is never lost and never doubled, whatever becomes of the answers.
import { TrunklineError } from '../errors.ts'
import type { Answer, Exchange } from '../exchange.ts'
import { listOrders, type Order, readOrder } from '../generated/openapi.ts'
import type { Operation, OperationShape, Params } from '../operation.ts'
import { repeated } from '../transport.ts'
import type { Match } from './terms.ts'
import { mayDiffer } from './trading-day.ts'

interface OrderShape extends OperationShape {
  readonly answer: Order
}

/** An order to be made, and how to know it again. */
export interface Intent<S extends OrderShape> {
  readonly operation: Operation<S>
  readonly params: Params<S>
  readonly clOrderId: string
  /** The id was made for this call: nobody else's order has it. */
  readonly isOwnId: boolean
  readonly compare: (order: Order) => Match
}

const LOOK_UPS = 8
const DAY_MS = 86_400_000
/** The `date` of an answer counts seconds, and the clocks of two nodes differ a little. */
const SLACK_MS = 3_000

/**
 * Sends the request until its outcome is known. After an answer that was lost, the same request goes out again under the same id: the
 * service makes it once, and names the order that has the id, which is read and compared. Once the trading day may have changed, the id
 * could be used again, so from then on the order is only looked up.
 * @throws TrunklineError with `clOrderId`: what the service answered when no request before had been lost, cl_order_id_taken,
 * outcome_unknown, aborted, or why no request got through.
 */
export async function commandOnce<S extends OrderShape>(exchange: Exchange, intent: Intent<S>): Promise<Answer<Order>> {
  const { clOrderId } = intent
  const state: State = { firstAt: exchange.clock.now(), mayExist: false, orderId: null }
  try {
    return (await send(exchange, intent, state)) ?? (await lookUp(exchange, intent, state))
  } catch (cause) {
    const error = asOurs(cause)
    if (!state.mayExist || error.order) throw new TrunklineError(error.code, error.message, { ...error, clOrderId })
    const { status, requestId } = error
    const code = error.code === 'aborted' ? 'aborted' : 'outcome_unknown'
    const message = `It is unknown whether the order ${clOrderId} was placed: look for it. ${error.message}`
    throw new TrunklineError(code, message, { status, requestId, clOrderId, orderId: state.orderId })
  }
}

interface State {
  readonly firstAt: number
  /** A request may have been carried out whose answer did not come. */
  mayExist: boolean
  orderId: string | null
}

/** Null once the order can only be looked up. */
async function send<S extends OrderShape>(exchange: Exchange, intent: Intent<S>, state: State): Promise<Answer<Order> | null> {
  const isLate = () => state.mayExist && mayDiffer(state.firstAt, exchange.clock.now())
  for (;;) {
    const found = await attempted(exchange, intent)
    if (!(found instanceof TrunklineError)) return found
    const { code, orderId } = found
    const isLoss = mayBeCarriedOut(found)
    if (code === 'cl_order_id_duplicate' && orderId && (state.mayExist || intent.isOwnId)) {
      state.mayExist = true
      state.orderId = orderId
      exchange.renew()
      const named = await repeated(exchange, readOrder, { order_id: orderId })
      return recognised(intent, named.data, named)
    }
    const isRefusal = !isLoss && !found.nothingDone
    if (isRefusal && !state.mayExist) throw found
    state.mayExist ||= isLoss
    // What is refused now says nothing of the request that was lost: only its order can.
    if (isRefusal || isLate()) return null
    if (code === 'aborted') throw found
    try {
      await exchange.pause(found)
    } catch (cause) {
      if (!state.mayExist || asOurs(cause).code === 'aborted') throw cause
      return null
    }
    if (isLate()) return null
  }
}

async function attempted<S extends OrderShape>(exchange: Exchange, { operation, params, clOrderId }: Intent<S>) {
  try {
    const answer = await exchange.attempt(operation, params, false)
    return answer.data.cl_order_id === clOrderId ? answer : new TrunklineError('answer_unreadable', 'The answer is about another order.')
  } catch (cause) {
    return asOurs(cause)
  }
}

/** Everything else with a status below 500 is the service's own word that it does not make this order. */
function mayBeCarriedOut({ code, status, nothingDone }: TrunklineError): boolean {
  if (nothingDone || code === 'setting_invalid') return false
  return code === 'answer_unreadable' || !status || status >= 500 || status === 408
}

function asOurs(cause: unknown): TrunklineError {
  if (cause instanceof TrunklineError) return cause
  throw cause
}

function recognised<S extends OrderShape>({ compare }: Intent<S>, order: Order, { meta }: Answer<unknown>): Answer<Order> {
  const match = compare(order)
  if (match === 'same') return { data: order, meta }
  const about = { order, orderId: order.order_id, requestId: meta.requestId }
  if (match === 'other') throw new TrunklineError('cl_order_id_taken', 'Another order has this id: nothing was placed.', about)
  throw new TrunklineError('outcome_unknown', 'The order with this id has other terms, perhaps changed by its broker.', about)
}

/** Looks for the order for a while: the request may still be under way at the service. */
async function lookUp<S extends OrderShape>(exchange: Exchange, intent: Intent<S>, { firstAt }: State): Promise<Answer<Order>> {
  const { now } = exchange.clock
  const query = { cl_order_id: intent.clOrderId, start_time: new Date(firstAt - DAY_MS).toISOString() }
  exchange.renew()
  for (;;) {
    let error = new TrunklineError('outcome_unknown', 'There is no such order yet.')
    try {
      const page = await exchange.attempt(listOrders, query, true)
      // By the service's clock: an older order with this id is one of another day.
      const since = (Date.parse(page.meta.headers.get('date') ?? '') || now()) - (now() - firstAt) - SLACK_MS
      const order = page.data.data.find(each => each.cl_order_id === intent.clOrderId && Date.parse(each.entry_time) >= since)
      if (order) return recognised(intent, order, page)
    } catch (cause) {
      error = asOurs(cause)
      if (!error.retrySafe) throw error
    }
    await exchange.pause(error, LOOK_UPS)
  }
}
