import type { AccountId, BrokerId, ClOrdId, OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Removals } from '../connections/removals.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderGateway } from '../execution/order-gateway.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import { offeredBroker } from '../offered-broker.ts'
import type { UnconfirmedIntents } from '../reconciliation/unconfirmed-intents.ts'
import { newOrder } from './new-order.ts'
import { checkTicket, type TicketRequest } from './ticket-check.ts'
import { type TradableDeps, tradableAccount } from './tradable.ts'

interface PlaceDeps extends TradableDeps, Pick<Deps, 'ids' | 'clock' | 'hasher' | 'meter' | 'ownership'> {
  readonly removals: Removals
  readonly mirrors: Mirrors
  readonly unconfirmed: UnconfirmedIntents
  readonly orderWriter: OrderWriter
  readonly orderGateway: OrderGateway
  readonly commands: InFlightCommands
}

export interface OrderRequest extends TicketRequest {
  readonly accountId: AccountId
  readonly clOrdId: ClOrdId
  readonly broker: BrokerId
  /** A new one, of a caller of our own that has recorded it before; absent: it is made here. */
  readonly orderId?: OrderId
}

/**
 * Stores the order, then sends it to the broker, once. Returns its last known state: filled, working, rejected by the broker, or pending if
 * the broker did not answer in time.
 * @throws ServiceError account_not_found, entitlement_missing, connection_broken, field_invalid, order_not_supported,
 * cl_order_id_duplicate.
 */
export async function placeOrder(deps: PlaceDeps, caller: UserCaller, request: OrderRequest): Promise<Order> {
  const ticket = checkTicket(request, offeredBroker(deps, request.broker).capabilities)
  const tradable = await tradableAccount(deps, caller, request.accountId, request.broker)
  deps.removals.demandStaying(tradable.connection)
  const order = newOrder(deps, caller, tradable, ticket, request.clOrdId, null, request.orderId)
  const { account, connection } = tradable
  const audit = audited(deps.clock, caller, 'order.place', order.orderId, { clOrdId: order.clOrdId, accountId: account.accountId })
  const fence = deps.ownership.fenceOf(order.userKey)
  return deps.commands.during(order.userKey, async () => {
    await deps.unconfirmed.write({ kind: 'place', placed: { connection, account, order } }, () => deps.orderWriter.open(order, audit))
    deps.meter.count('orders_total', { broker: order.broker })
    deps.mirrors.expect(connection, account, order)
    return await deps.orderGateway.submit({ connection, account, order }, fence)
  })
}
