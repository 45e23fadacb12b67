/**
 * The account stream: a few fields of each order that changes, and a sign of life now and then. Balances and positions are not streamed.
 */

import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { DialectConnection } from '../frame/connections.ts'
import { accountsOf, numberOf } from './account.ts'
import type { TradierOrders } from './order-wire.ts'
import { Streams } from './streams.ts'

const HEARTBEAT_MS = 60_000

export function accountStream(brokerage: BrokerageView, orders: TradierOrders): Streams & Disposable {
  const listening = new Set<DialectConnection>()
  const streams = new Streams(brokerage, {
    ...{ path: '/tradier/ws/v1/accounts/events', waitingMax: 1024 * 1024, garbled: '{"id":9004' },
    begin: connection => ({
      receive: ({ events }) => {
        if (!Array.isArray(events) || !events.includes('order')) return 'events must be ["order"]'
        listening.add(connection)
        return null
      },
      [Symbol.dispose]: () => void listening.delete(connection)
    })
  })
  const beat = () => {
    const timestamp = `${new Date(brokerage.realNow()).toISOString().slice(0, -1)}000000Z`
    for (const connection of listening) connection.send(JSON.stringify({ event: 'heartbeat', status: 'active', timestamp }))
  }
  const heartbeat = setInterval(beat, brokerage.heartbeatMs ?? HEARTBEAT_MS).unref()
  const following = brokerage.publisher.follow({
    order: (event, login) => {
      orders.happened(event)
      const readers = streams.connections.of(login).filter(connection => listening.has(connection))
      const account = readers.length === 0 ? undefined : accountsOf(brokerage, login).find(({ id }) => id === event.order.accountId)
      if (account === undefined) return
      for (const frame of orders.events(event, numberOf(account))) for (const connection of readers) connection.event(JSON.stringify(frame))
    },
    orderAgain: () => undefined,
    account: () => undefined
  })
  return Object.assign(streams, {
    [Symbol.dispose]: () => {
      clearInterval(heartbeat)
      following[Symbol.dispose]()
      streams.connections.close()
    }
  })
}
