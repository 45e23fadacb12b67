/** The control API's routes for orders: an operator's look-ups across all logins, placements, fills and cancels. */

import type { OrderView } from '../../engine/types.ts'
import { readTicket, symbolsOf } from '../api/ticket.ts'
import type { BrokerageClock } from '../clock.ts'
import type { Contracts } from '../contracts.ts'
import type { Counters } from '../counters.ts'
import type { Customers } from '../customers.ts'
import { internalIdOf } from '../order-ids.ts'
import type { OrderService } from '../order-service.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { BrokerageState } from '../state.ts'
import { customerNamed } from './logins.ts'
import type { ControlCall, ControlRoute } from './server.ts'

export interface OrderControl {
  readonly state: BrokerageState
  readonly orderService: OrderService
  readonly customers: Customers
  readonly counters: Counters
  readonly contracts: Contracts
  readonly clock: BrokerageClock
}

export function orderControlRoutes(deps: OrderControl): readonly ControlRoute[] {
  const { state, orderService, counters } = deps
  return [
    {
      method: 'GET',
      path: '/orders',
      handle: ({ query }) => {
        const clientOrderId = new Fields(query, ['client_order_id']).text('client_order_id')
        const found = everywhere(deps)
          .map(account => state.order([account], { clientOrderId }))
          .filter(order => order !== 'unknown')
        const orders = found.filter(order => typeof order === 'object').map(order => orderService.wire(order))
        return { received: counters.received(clientOrderId), accepted: found.length, orders }
      }
    },
    { method: 'POST', path: '/orders', status: 201, handle: call => placeOrder(deps, call) },
    {
      method: 'POST',
      path: '/orders/:id/cancel',
      handle: ({ param }) => ({ order: orderService.wire(orderService.cancel(named(deps, param), undefined)) })
    },
    { method: 'POST', path: '/orders/:id/reveal', handle: ({ param }) => orderService.reveal(named(deps, param)) },
    { method: 'POST', path: '/orders/:id/fill', handle: call => fill(deps, call) },
    { method: 'GET', path: '/counters', handle: () => ({ operations: counters.report() }) },
    { method: 'DELETE', path: '/counters', handle: () => counters.reset() }
  ]
}

async function placeOrder({ orderService, customers, contracts }: OrderControl, { body }: ControlCall): Promise<object> {
  if (typeof body !== 'object' || body === null || !('login' in body))
    throw new Problem('bad_request', 'login is missing', { field: 'login' })
  const { login, ...ticket } = body
  const customer = customerNamed(customers, String(login))
  const read = readTicket(ticket)
  if (customers.account(read.accountId)?.person !== customer.id)
    throw new Problem('unknown_account', `not an account of ${customer.username}`)
  await contracts.bring(symbolsOf(read))
  return { order: orderService.wire(orderService.submit(read, undefined)) }
}

/** The operator fills this quantity of the order with the external market, at the order's limit. */
function fill(deps: OrderControl, { param, body }: ControlCall): object {
  const { state, orderService, clock } = deps
  const { accountId, orderId } = named(deps, param)
  const quantity = new Fields(body, ['quantity']).decimalOr('quantity')
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  const [first] = state.run({ type: 'execute', at: clock.now(), accountId, order: { orderId }, quantity })
  if (first?.type === 'refused') throw new Problem(first.code, first.message)
  return { order: orderService.wire(named(deps, param)) }
}

/** An order by its internal id or its id in any dialect; for an amended order, the latest one. */
function named(deps: OrderControl, id: string): OrderView {
  const { state } = deps
  const orderId = internalIdOf(id, number => state.engine.orderId(number)) ?? id
  let found = state.order(everywhere(deps), { orderId })
  while (typeof found === 'object' && found.replacedBy !== null) found = state.order([found.accountId], { orderId: found.replacedBy })
  if (typeof found === 'object') return found
  throw new Problem('unknown_order', `no order ${id.slice(0, 64)} in the sandbox`)
}

function everywhere({ customers }: OrderControl): readonly string[] {
  return customers.accounts().map(({ id }) => id)
}
