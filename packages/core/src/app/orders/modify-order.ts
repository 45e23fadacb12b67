import { areEqual, compare, type Decimal } from '../../domain/decimal.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, BrokerId, ClOrdId, OrderId } from '../../domain/ids.ts'
import type { Order, OrderTicket } from '../../domain/order.ts'
import { filledAlong } from '../../domain/order-machine.ts'
import { tradingDay } from '../../domain/timestamp.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Removals } from '../connections/removals.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderGateway } from '../execution/order-gateway.ts'
import { held, replaceRequested } from '../execution/order-steps.ts'
import { clOrdIdTaken, type OrderWriter } from '../execution/order-writer.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import type { UnconfirmedIntents } from '../reconciliation/unconfirmed-intents.ts'
import { orderNotFound } from './cancel-order.ts'
import { newOrder } from './new-order.ts'
import { checkTicket, type TicketRequest } from './ticket-check.ts'
import { demandTradable, orderAccount, type Tradable, type TradableDeps } from './tradable.ts'

interface ModifyDeps extends TradableDeps, Pick<Deps, 'store' | 'ids' | 'clock' | 'hasher' | 'ownership'> {
  readonly removals: Removals
  readonly mirrors: Mirrors
  readonly unconfirmed: UnconfirmedIntents
  readonly orderWriter: OrderWriter
  readonly orderGateway: OrderGateway
  readonly commands: InFlightCommands
}

/** The requested changes; null leaves a field unchanged. `quantity` is the total, filled quantity included. */
export interface ModifyRequest {
  readonly newClOrdId: ClOrdId
  readonly broker: BrokerId
  readonly quantity: Decimal | null
  readonly notional: Decimal | null
  readonly limitPrice: Decimal | null
  readonly stopPrice: Decimal | null
}

/**
 * Replaces an open order by a new one with the changes. Returns the new order: working; rejected if the broker refused, in which case the
 * old order works on; or pending if the broker did not answer in time.
 * @throws ServiceError account_not_found, order_not_found, order_not_open, order_not_supported, field_invalid, cl_order_id_duplicate,
 * connection_broken, entitlement_missing.
 */
export async function modifyOrder(
  deps: ModifyDeps,
  caller: UserCaller,
  accountId: AccountId,
  orderId: OrderId,
  request: ModifyRequest
): Promise<Order> {
  const owned = await orderAccount(deps, caller, accountId, request.broker)
  const known = await deps.orderWriter.findOf(caller.user.userKey, orderId)
  if (known === null || known.accountId !== accountId) throw orderNotFound()
  const tradable = demandTradable(deps, owned)
  deps.removals.demandStaying(tradable.connection)
  try {
    return await modify(deps, caller, tradable, known, request)
  } catch (cause) {
    // Probably a retry of a request whose response was lost: the order is already replaced, or being replaced, by the successor with this
    // id.
    if (cause instanceof ServiceError && cause.code === 'order_not_open') await demandUnused(deps, known, request.newClOrdId)
    throw cause
  }
}

async function modify(deps: ModifyDeps, caller: UserCaller, tradable: Tradable, known: Order, request: ModifyRequest): Promise<Order> {
  const { account, connection, capabilities } = tradable
  const { orderId } = known
  const at = deps.clock.now()
  replaceRequested(held(known, at), orderId, at)
  if (capabilities.replace !== 'native') {
    throw new ServiceError('order_not_supported', `${capabilities.name} cannot modify orders: cancel it and place a new one.`)
  }
  const ticket = checkTicket(changedTicket(known, request), capabilities)
  demandReplaceable(known, ticket, capabilities)
  if (ticket.quantity !== null && compare(ticket.quantity, filledAlong(known)) <= 0) {
    const message = `must be more than the ${filledAlong(known)} filled already: it is the order’s total, was "${ticket.quantity}"`
    throw new ServiceError('field_invalid', `order_qty ${message}`, { details: [{ path: 'order_qty', message }] })
  }
  const successor = newOrder(deps, caller, tradable, ticket, request.newClOrdId, known)
  const audit = audited(deps.clock, caller, 'order.modify', orderId, { successor: successor.orderId })
  deps.mirrors.expect(connection, account, successor)
  const intent = { kind: 'replace', placed: { connection, account, order: known }, successor } as const
  const fence = deps.ownership.fenceOf(known.userKey)
  return deps.commands.during(known.userKey, async () => {
    const order = await deps.unconfirmed.write(intent, async () => {
      await deps.orderWriter.change(orderId, present => (held(present, at) === present ? null : { order: held(present, at) }))
      return deps.orderWriter.changeWith(orderId, present => replaceRequested(present, successor.orderId, at), successor, audit)
    })
    if (order === null) throw orderNotFound()
    return await deps.orderGateway.replace({ connection, account, order }, successor, fence)
  })
}

/** Called for an order that cannot be modified. @throws ServiceError cl_order_id_duplicate, naming the order that has the id. */
async function demandUnused(
  { store, orderWriter, clock }: Pick<ModifyDeps, 'store' | 'orderWriter' | 'clock'>,
  { orderId, userKey }: Order,
  clOrdId: ClOrdId
): Promise<void> {
  const taken = await store.orders.findByClOrdId(userKey, tradingDay(clock.now()), clOrdId)
  if (taken !== null) throw clOrdIdTaken(taken.orderId, 'new_cl_order_id')
  // The first request may have been made on an earlier trading day.
  const present = await orderWriter.find(orderId)
  const successorId = present?.replacedByOrderId ?? present?.pendingRequest?.successorId ?? null
  const successor = successorId === null ? null : await orderWriter.find(successorId)
  if (successor?.clOrdId === clOrdId) throw clOrdIdTaken(successor.orderId, 'new_cl_order_id')
}

/** @throws ServiceError order_not_supported if a field changes that the broker cannot replace. */
function demandReplaceable(order: Order, ticket: OrderTicket, { name, replaceFields }: BrokerCapabilities): void {
  const offered = replaceFields[order.instrument] ?? []
  const changes = [
    ['order_qty', order.quantity, ticket.quantity],
    ['order_notional', order.notional, ticket.notional],
    ['order_limit_price', order.limitPrice, ticket.limitPrice],
    ['stop_price', order.stopPrice, ticket.stopPrice]
  ] as const
  const details = changes
    .filter(([field, before, after]) => after !== null && !areEqual(before, after) && !offered.includes(field))
    .map(([path, before, after]) => ({
      path,
      message: `cannot be changed from ${before ?? 'null'} to ${after}: for ${order.instrument}, ${name} can change ${offered.join(', ') || 'nothing'}`
    }))
  const [first] = details
  if (first === undefined) return
  throw new ServiceError('order_not_supported', `${first.path} ${first.message}. Cancel the order and place another.`, { details })
}

function demandSameSize(order: Order, request: ModifyRequest): void {
  const isByAmount = order.notional !== null
  if ((isByAmount ? request.quantity : request.notional) === null) return
  const [path, its] = isByAmount ? ['order_qty', `order_notional ${order.notional}`] : ['order_notional', `order_qty ${order.quantity}`]
  const message = `cannot be given: the order is for ${its}, and a change keeps which of the two it is`
  throw new ServiceError('order_not_supported', `${path} ${message}. Cancel the order and place another.`, { details: [{ path, message }] })
}

/** The same number in another notation is no change. */
function changed(before: Decimal | null, after: Decimal | null): Decimal | null {
  return after === null || areEqual(before, after) ? before : after
}

/** The new order's terms. @throws ServiceError field_invalid: nothing changes; order_not_supported: a quantity becomes an amount, or back */
export function changedTicket(order: Order, request: ModifyRequest): TicketRequest {
  const changes = [request.quantity, request.notional, request.limitPrice, request.stopPrice]
  if (changes.every(change => change === null)) {
    throw new ServiceError('field_invalid', 'The request changes nothing: send order_qty, order_notional, order_limit_price or stop_price.')
  }
  demandSameSize(order, request)
  return {
    ...order,
    quantity: changed(order.quantity, request.quantity),
    notional: changed(order.notional, request.notional),
    limitPrice: changed(order.limitPrice, request.limitPrice),
    stopPrice: changed(order.stopPrice, request.stopPrice)
  }
}
