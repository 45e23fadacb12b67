import { abandonedOrders, endSetNeverReceived, SET_ORDERS_MAX } from '@trunkline/core/app/operators/settling'
import { type ConnectionId, type OrderId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import { integer, plainText, uuidInPath } from '../../http/params.ts'
import { asking, entriesOf } from '../acting.ts'
import { type Operation, operation } from '../endpoint.ts'
import { settlingPorts } from '../nodes/perform.ts'
import { onlyPage } from '../paging.ts'
import { orderRow, presentOrderRow } from '../records.ts'
import { abandonedPage, endedSet, presentAbandoned, setTicket, settlingTicket } from '../settling-records.ts'

const shared = { scope: 'manage', tag: 'Orders', method: 'POST' } as const
const because = plainText(200, 'How the operator knows.', 'the broker confirmed it by telephone')
const LIMIT = { minimum: 1, maximum: SET_ORDERS_MAX, fallback: 100 }

export const SETTLING: readonly Operation[] = [
  operation({
    scope: 'read',
    tag: 'Orders',
    method: 'GET',
    path: '/abandoned-orders',
    operationId: 'listAbandonedOrders',
    summary: 'List abandoned orders',
    description: `Orders whose connection was removed before the broker reported their outcome, within the last 30 days. The service can no longer look them up, and
nothing ends them: look for each in the account at the broker, and inform its owner.`,
    query: { limit: integer(LIMIT, 'Maximum number of orders.') },
    success: { status: 200, description: 'The orders, by the time of the removal, the newest first.', schema: abandonedPage },
    async handle({ query: { limit = LIMIT.fallback } }, { abandoned, app: { clock } }) {
      return onlyPage(await abandonedOrders({ audit: abandoned, clock }, limit), presentAbandoned)
    }
  }),
  operation({
    ...shared,
    path: '/orders/:order_id/never-received',
    operationId: 'endOrderNeverReceived',
    summary: 'End an order that the broker never received',
    description: `An order of unknown outcome is then \`rejected\` (\`not_received\`, method \`operator\`), and its owner gets the update. Check the account at the broker first:
the service asks the broker too, unless \`unseen\`. It refuses while the order may still be on its way, and while the broker shows one that may be it.
With several nodes, any of them has it done by the node that owns the order’s user. A repetition is refused: the outcome is known. Of two at once, one ends the
order, and both are answered with it. If that node gives no answer, the order as it is stored shows whether it was ended; else the answer is \`internal\`, and it is
unknown: read the order again before you repeat it.`,
    failures: ['order_not_found', 'order_not_settled', 'broker_unavailable'],
    params: { order_id: uuidInPath<OrderId>('The order.') },
    body: settlingTicket,
    bodyExample: { because: 'the broker confirmed it by telephone' },
    success: { status: 200, description: 'The order as it is now.', schema: orderRow },
    async handle({ caller, path, body, reply }, deps) {
      const reasons = { because: because.read(body.because, 'because'), isUnseen: body.unseen ?? false }
      const { order_id: orderId } = path
      const userKey = (await deps.app.store.orders.find(orderId))?.userKey ?? null
      return await deps.changes.end(userKey, { kind: 'end_never_received', orderId, ...reasons }, caller, reply.raw)
    }
  }),
  operation({
    ...shared,
    path: '/unresolved-orders/never-received',
    operationId: 'endOrdersNeverReceived',
    summary: 'End several orders that the broker never received',
    description: `All unresolved orders that match the filters, of which at least one is given, under the rules of one order. Without \`set\` it is a trial: it ends nothing, and
answers which orders would be ended, which are kept and why, and the name of the set. With that name, exactly these are ended; if the set has changed since,
none is. It considers ${SET_ORDERS_MAX} orders at most, the oldest first, of users whom the node that answers owns. The audit log names all of them before the first
ends. A repetition with the same name is refused, as the set is another one then. Of two at once, one ends the orders.`,
    failures: ['order_not_settled', 'broker_unavailable'],
    body: setTicket,
    bodyExample: { broker: 'TRADESTATION', older_than_hours: 24, because: 'the broker confirmed it by telephone' },
    success: { status: 200, description: 'The orders that were ended, or would be.', schema: endedSet },
    async handle({ caller, body, reply }, deps) {
      const {
        broker = null,
        connection_id: connectionId = null,
        older_than_hours: olderThanHours = null,
        unseen = false,
        set: expected = null
      } = body
      const wanted = {
        broker: broker === null ? null : parseBrokerId(broker),
        connectionId: connectionId === null ? null : parseUuid<ConnectionId>(connectionId, 'connection_id'),
        ...{ olderThanHours, expected, because: because.read(body.because, 'because'), isUnseen: unseen }
      }
      const entryOf = entriesOf(deps, caller)
      const ended = await asking(deps, reply.raw, signal => endSetNeverReceived(settlingPorts(deps), wanted, entryOf, signal))
      const { fitting, set, orders, kept } = ended
      return {
        ...{ is_trial: expected === null, fitting, set },
        orders: orders.map(presentOrderRow),
        kept: kept.map(({ orderId, why }) => ({ order_id: orderId, why }))
      }
    }
  })
]
