/** Orders over REST, in pages and by id; and as a stream: today's first, then what becomes of them, in TradeStation's own small steps. */

import { midnight } from '@trunkline/core/domain/calendar/index'
import {
  type Answer,
  type Cursors,
  daysOf,
  draw,
  hasSize,
  isLive,
  keyOf,
  type Micros,
  NEW_YORK,
  newYorkDate,
  type OrderEvent,
  type OrderView
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type Chain, chainById, chainOf } from '../frame/order-chain.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { requestedAccounts, streamedAccounts } from './account.ts'
import { bad, bodyOf, json, timeOf } from './answers.ts'
import { orderWire, type Status } from './order-wire.ts'
import type { Begin, StreamCall } from './streams.ts'

const PAGE_MAX = 600
const DAYS_BACK = 90
const dayOf = daysOf(NEW_YORK)

interface OrderReadsDeps {
  readonly brokerage: BrokerageView
  readonly cursors: Cursors
}

type Shown = (order: OrderView) => boolean

/** Today's orders and all that are open, and those that closed since a day, today included. */
export function orderReads(deps: OrderReadsDeps): readonly DialectRoute[] {
  const { brokerage } = deps
  const kinds: readonly (readonly [name: string, shownTo: (call: Call) => Shown])[] = [
    ['orders', () => isTodays(brokerage)],
    ['historicalorders', call => isPast(brokerage, call)]
  ]
  return kinds.flatMap(([name, shownTo]): readonly DialectRoute[] => {
    const path = `/brokerage/accounts/:accounts/${name}`
    return [
      { method: 'GET', path, operation: 'orders.list', handle: call => listed(deps, call, shownTo(call)) },
      { method: 'GET', path: `${path}/:orderId`, operation: 'orders.get', handle: call => byId(brokerage, call, shownTo(call)) }
    ]
  })
}

/** At the end of the day the closed ones are purged. */
export function isTodays({ clock }: BrokerageView): Shown {
  const today = dayOf(clock.now()).start
  return order => isLive(order) || order.updatedAt >= today
}

/** @throws Problem `bad_request` */
function isPast({ clock }: BrokerageView, { request }: Call): Shown {
  const since = bodyOf(texts(request.query)).readOr('since', 'must be a date', text => /^\d{4}-\d{2}-\d{2}$/.exec(text)?.[0])
  const earliest = Temporal.PlainDate.from(newYorkDate(clock.now())).subtract({ days: DAYS_BACK }).toString()
  if (since === null || since < earliest) return bad(`since is required, and the date range cannot exceed ${DAYS_BACK} days`)
  const begin: Micros = midnight(since, NEW_YORK) * 1_000
  return order => !isLive(order) && order.updatedAt >= begin
}

/** The open ones by when they were placed, the others by when they ended, the newest first. */
function chainsOf({ state, publisher }: BrokerageView, accounts: readonly { readonly id: string }[], isShown: Shown): readonly Chain[] {
  const at = ({ first, last }: Chain) => (isLive(last) ? first.acceptedAt : last.updatedAt)
  return (
    accounts
      .flatMap(({ id }) => state.engine.orders(id))
      // The last of a chain stands for it.
      .filter(order => order.state !== 'replaced' && hasSize(order) && !publisher.isHidden(order.orderId) && isShown(order))
      .map(order => chainOf(state, order))
      .sort((a, b) => at(b) - at(a) || (b.id > a.id ? 1 : -1))
  )
}

function listed({ brokerage, cursors }: OrderReadsDeps, call: Call, isShown: Shown): Answer {
  const { request, customer, fault } = call
  const { accounts, errors } = requestedAccounts(brokerage, call)
  const query = bodyOf(texts(request.query))
  const size = query.countOr('pageSize', 1, PAGE_MAX) ?? PAGE_MAX
  const question = `${customer.id} ${request.url.split('?', 1)[0]} ${query.textOr('since')}`
  const position = cursors.read(query.textOr('nextToken'), question)
  const chains = fault?.do === 'empty' ? [] : chainsOf(brokerage, accounts, isShown)
  const begin = chains.findIndex(({ id }) => id === position.after.order) + 1
  const end = begin + size
  const next = fault?.do === 'lose_page' && fault.page === position.page + 1 ? end + size : end
  const order = next < chains.length ? chains[next - 1]?.id : undefined
  return json({
    Orders: chains.slice(begin, end).map(chain => orderWire(brokerage, chain)),
    Errors: errors,
    ...(order === undefined ? {} : { NextToken: cursors.issue({ after: { order }, page: position.page + 1 }, question) })
  })
}

function byId(brokerage: BrokerageView, call: Call, isShown: Shown): Answer {
  const { accounts, errors } = requestedAccounts(brokerage, call)
  const { orderId = '', accounts: AccountID = '' } = texts(call.request.params)
  const ids = accounts.map(({ id }) => id)
  const chain = chainById(brokerage, ids, orderId)
  if (chain !== undefined && isShown(chain.last)) return json({ Orders: [orderWire(brokerage, chain)], Errors: errors })
  const missing = { AccountID, OrderID: orderId.slice(0, 40), Error: 'NotFound', Message: 'Order not found' }
  return json({ Orders: [], Errors: [...errors, missing] })
}

/** `oddity`: the chance in 256 of each of the stream's oddities. */
export function orderStream(brokerage: BrokerageView, call: StreamCall, oddity: number): Begin {
  const { state, publisher, seed } = brokerage
  const { accounts, errors } = streamedAccounts(brokerage, call)
  const ids = new Set(accounts.map(({ id }) => id))
  const key = keyOf(`${seed} order stream`)
  const happens = ({ order, change }: OrderEvent) => (draw(key, keyOf(`${order.orderId} ${change} ${order.fills.length}`)) & 0xff) < oddity
  return stream => {
    for (const chain of chainsOf(brokerage, accounts, isTodays(brokerage))) stream.send(orderWire(brokerage, chain))
    for (const frame of [...errors, { StreamStatus: 'EndSnapshot' }]) stream.send(frame)
    const following = publisher.follow({
      order: event => {
        if (!ids.has(event.order.accountId) || !hasSize(event.order)) return
        for (const frame of framesOf(brokerage, event, () => happens(event))) stream.event(frame)
      },
      orderAgain: order => {
        if (ids.has(order.accountId)) stream.event(orderWire(brokerage, chainOf(state, order)))
      },
      account: () => undefined
    })
    stream.hold(following)
  }
}

function framesOf(brokerage: BrokerageView, { change, order }: OrderEvent, isOdd: () => boolean): readonly object[] {
  const chain = chainOf(brokerage.state, order)
  const as = (status: Status, of: Chain = chain) => orderWire(brokerage, of, status)
  const now = orderWire(brokerage, chain)
  const { ClosedDateTime: _, ...open } = now
  switch (change) {
    case 'replaced':
      // The replacing order reports it.
      return []
    case 'accepted': {
      const orders = chain.orders.slice(0, -1)
      const last = orders.at(-1)
      // One leg can come twice, in the place of another.
      const repeated = { ...now, Legs: now.Legs.map(() => now.Legs[0]) }
      if (last === undefined) return [as('OPN'), ...(now.Legs.length > 1 && isOdd() ? [repeated] : []), now]
      // The old terms can be seen to go before the new ones come, without the order being closed.
      return isOdd() ? [as('RSN', { ...chain, orders, last }), as('OUT', { ...chain, orders, last }), now] : [now]
    }
    case 'rejected':
      return [as('OPN'), now]
    case 'triggered':
      // It carries a closing time and lives on.
      return [{ ...as('STP'), ClosedDateTime: timeOf(order.updatedAt) }, now]
    case 'fill':
      // The quantity can be reported before the status has caught up.
      return isOdd() ? [as('ACK'), ...(now.Status === 'FLL' ? [now] : [])] : [now]
    case 'canceled': {
      if (now.Status === 'REJ') return [now]
      const requested = order.reason?.code === 'requested' ? [as('UCN')] : []
      // The end can be reported twice: without its time, then with it.
      return [...requested, ...(isOdd() ? [open] : []), now]
    }
    case 'expired':
      return [now]
  }
}
