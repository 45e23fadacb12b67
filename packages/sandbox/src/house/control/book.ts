/** The control API's hand on the books: orders seen across all logins, placed, filled and ended as a desk would. */

import type { OrderView } from '../../engine/types.ts'
import { readTicket, symbolsOf } from '../api/ticket.ts'
import type { Books } from '../books.ts'
import type { HouseClock } from '../clock.ts'
import type { Contracts } from '../contracts.ts'
import type { Counters } from '../counters.ts'
import type { Desk } from '../desk.ts'
import { houseIdOf } from '../order-ids.ts'
import type { People } from '../people.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import { personNamed } from './logins.ts'
import type { ControlCall, ControlRoute } from './server.ts'

export interface BookControl {
  readonly books: Books
  readonly desk: Desk
  readonly people: People
  readonly counters: Counters
  readonly contracts: Contracts
  readonly clock: HouseClock
}

export function bookRoutes(deps: BookControl): readonly ControlRoute[] {
  const { books, desk, counters } = deps
  return [
    {
      method: 'GET',
      path: '/orders',
      act: ({ query }) => {
        const clientOrderId = new Fields(query, ['client_order_id']).text('client_order_id')
        const found = everywhere(deps)
          .map(account => books.order([account], { clientOrderId }))
          .filter(order => order !== 'unknown')
        const orders = found.filter(order => typeof order === 'object').map(order => desk.wire(order))
        return { received: counters.received(clientOrderId), accepted: found.length, orders }
      }
    },
    { method: 'POST', path: '/orders', status: 201, act: call => placeAtDesk(deps, call) },
    { method: 'POST', path: '/orders/:id/cancel', act: ({ param }) => ({ order: desk.wire(desk.cancel(named(deps, param), undefined)) }) },
    { method: 'POST', path: '/orders/:id/reveal', act: ({ param }) => desk.reveal(named(deps, param)) },
    { method: 'POST', path: '/orders/:id/fill', act: call => fill(deps, call) },
    { method: 'GET', path: '/counters', act: () => ({ operations: counters.report() }) },
    { method: 'DELETE', path: '/counters', act: () => counters.reset() }
  ]
}

async function placeAtDesk({ desk, people, contracts }: BookControl, { body }: ControlCall): Promise<object> {
  if (typeof body !== 'object' || body === null || !('login' in body))
    throw new Problem('bad_request', 'login is missing', { field: 'login' })
  const { login, ...ticket } = body
  const person = personNamed(people, String(login))
  const read = readTicket(ticket)
  if (people.account(read.accountId)?.person !== person.id) throw new Problem('unknown_account', `not an account of ${person.username}`)
  await contracts.bring(symbolsOf(read))
  return { order: desk.wire(desk.submit(read, undefined)) }
}

/** The desk does so much of the order in the street, at the order's own limit. */
function fill(deps: BookControl, { param, body }: ControlCall): object {
  const { books, desk, clock } = deps
  const { accountId, orderId } = named(deps, param)
  const quantity = new Fields(body, ['quantity']).decimalOr('quantity')
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  const [first] = books.run({ type: 'execute', at: clock.now(), accountId, order: { orderId }, quantity })
  if (first?.type === 'refused') throw new Problem(first.code, first.message)
  return { order: desk.wire(named(deps, param)) }
}

/** An order by the house's id or by that of any of its tongues; of an order that was amended, the one that goes on. */
function named(deps: BookControl, id: string): OrderView {
  const { books } = deps
  const orderId = houseIdOf(id, number => books.engine.orderId(number)) ?? id
  let found = books.order(everywhere(deps), { orderId })
  while (typeof found === 'object' && found.replacedBy !== null) found = books.order([found.accountId], { orderId: found.replacedBy })
  if (typeof found === 'object') return found
  throw new Problem('unknown_order', `no order ${id.slice(0, 64)} in the house`)
}

function everywhere({ people }: BookControl): readonly string[] {
  return people.accounts().map(({ id }) => id)
}
