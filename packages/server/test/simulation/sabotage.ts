// Faults of the service itself, put in on purpose: a simulation that does not notice them proves nothing.
import type { Deps } from '@trunkline/core/app/deps'
import type { Account, Balance } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Fill } from '@trunkline/core/domain/order'
import type { AccountEvent, Broker, BrokerDefinition, CredentialsHolder, NewOrder, OrderReport } from '@trunkline/core/ports/broker'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { Owner, Ownership } from '@trunkline/core/ports/ownership'
import type { OrderChange } from '@trunkline/core/ports/store'
import type { ClientConnection } from '../../src/stream/client-connection.ts'

/** What stands between the parts of the service. Made again for each of its lives. */
export interface Sabotage {
  readonly deps?: (deps: Deps) => Deps
  readonly connection?: (connection: ClientConnection) => ClientConnection
  /** Of a node: what its writes carry instead of their fence. */
  readonly fence?: (fence: number | null) => number | null
}

/** One in so many goes wrong, so that a day is well for a while. */
const RARELY = 7

export const SABOTAGES: Readonly<Record<string, () => Sabotage>> = {
  'a stream that drops an update': () => {
    const isDue = everySo(3 * RARELY)
    return {
      connection: connection => ({
        ...passed(connection),
        send: frame => void (isUpdate(frame) && isDue() ? undefined : connection.send(frame))
      })
    }
  },
  'a stream that repeats an update': () => {
    const isDue = everySo(3 * RARELY)
    return {
      connection: connection => ({
        ...passed(connection),
        send: frame => {
          connection.send(frame)
          if (isUpdate(frame) && isDue()) connection.send(frame)
        }
      })
    }
  },
  'updates that are published before they are stored': () => ({
    deps: deps => {
      const orders = withMethod(deps.store.orders, 'record', record => async (changes: readonly OrderChange[]) => {
        const last = await deps.store.events.last(changes[0]?.order.userKey ?? never())
        const event = (order: OrderChange['order'], index: number) => ({
          ...{
            eventId: deps.ids.uuid<PublishedEvent['eventId']>(),
            userKey: order.userKey,
            seq: last + 1 + index,
            accountId: order.accountId
          },
          ...{ at: deps.clock.now(), topic: 'orders' as const, data: order }
        })
        const published = changes.filter(({ publish }) => publish).map(({ order }, index) => event(order, index))
        if (published[0] !== undefined) deps.bus.publish({ type: 'events', userKey: published[0].userKey, events: published })
        return await record(changes)
      })
      return { ...deps, store: { ...deps.store, orders } }
    }
  }),
  'a change that is confirmed and not written': () => {
    const isDue = everySo(RARELY)
    return {
      deps: deps => {
        const orders = withMethod(
          deps.store.orders,
          'record',
          record => async (changes: readonly OrderChange[]) =>
            changes.length === 1 && changes[0]?.overRevision !== null && isDue()
              ? [{ kind: 'recorded' as const, event: null }]
              : await record(changes)
        )
        return { ...deps, store: { ...deps.store, orders } }
      }
    }
  },
  'balances that are ordered by the wall clock': () => {
    const newest = new Map<string, string>()
    const isOlder = (account: Account, at: string) => {
      const isBefore = at < (newest.get(account.accountId) ?? '')
      if (!isBefore) newest.set(account.accountId, at)
      return isBefore
    }
    return {
      deps: deps => {
        const accounts = withMethod(
          deps.store.accounts,
          'putBalances',
          put => async (account: Account, balances: readonly Balance[]) =>
            balances.some(({ systemTime }) => isOlder(account, systemTime)) ? [] : await put(account, balances)
        )
        return { ...deps, store: { ...deps.store, accounts } }
      }
    }
  },
  'an execution that is counted twice': () => ({
    deps: overBrokers(broker => ({ ...passedBroker(broker), events: signal => doubled(broker.events(signal)) }))
  }),
  'an order that is sent again when its outcome is unknown': () => ({
    deps: overBrokers(broker => ({
      ...passedBroker(broker),
      submit: async (order, signal) => {
        const outcome = await broker.submit(order, signal)
        return outcome.kind === 'unknown' ? await broker.submit(order, signal) : outcome
      }
    }))
  }),
  'an unknown outcome that is shown as a rejection': () => ({
    deps: overBrokers(broker => ({
      ...passedBroker(broker),
      submit: async (order, signal) => {
        const outcome = await broker.submit(order, signal)
        return outcome.kind === 'unknown'
          ? { kind: 'refused', message: 'no answer in time', rejectCode: null, brokerStatus: null }
          : outcome
      }
    }))
  })
}

/** Of several nodes. */
export const SABOTAGES_OF_NODES: Readonly<Record<string, () => Sabotage>> = {
  'fences that are not compared': () => ({ fence: () => 0 }),
  'a command whose first byte leaves although the lease was lost': () => ({
    deps: overBrokers(
      broker => broker,
      credentials => ({
        read: signal => credentials.read(signal),
        renew: (...renewal) => credentials.renew(...renewal)
      })
    )
  }),
  'an owner that does not notice the end of its lease': () => {
    const fences = new Map<UserKey, number>()
    return {
      deps: deps => {
        const { ownership } = deps
        const ownerOf = (userKey: UserKey): Owner => (fences.has(userKey) ? { kind: 'this' } : ownership.ownerOf(userKey))
        const fenceOf = (userKey: UserKey) => {
          const fence = ownership.fenceOf(userKey) ?? fences.get(userKey) ?? null
          if (fence !== null) fences.set(userKey, fence)
          return fence
        }
        return { ...deps, ownership: { ...passedOwnership(ownership), ownerOf, fenceOf } }
      }
    }
  },
  'an order that the next owner sends again': nextOwnerSendsAgain,
  'a message between nodes that is never made good': () => ({
    deps: deps => {
      const lasts = withMethod(
        deps.store.events,
        'lasts',
        () => async (userKeys: readonly UserKey[]) => new Map(userKeys.map(userKey => [userKey, 0]))
      )
      return { ...deps, store: { ...deps.store, events: lasts } }
    }
  })
}

/** Tickets by their client order ids, which differ in all days. */
const tickets = new Map<string, NewOrder>()

/** What one node sent, another one that looks for it in vain sends too. */
function nextOwnerSendsAgain(): Sabotage {
  const own = new Set<string>()
  return {
    deps: overBrokers(broker => ({
      ...passedBroker(broker),
      submit: async (order, signal) => {
        tickets.set(order.brokerClOrdId, order)
        own.add(order.brokerClOrdId)
        return await broker.submit(order, signal)
      },
      findOrder: async (key, signal) => {
        const answer = await broker.findOrder(key, signal)
        const ticket = key.by === 'brokerClOrdId' && answer.found === null ? tickets.get(key.brokerClOrdId) : undefined
        if (ticket !== undefined && !own.has(ticket.brokerClOrdId)) await broker.submit(ticket, signal)
        return answer
      }
    }))
  }
}

type PublishedEvent = Extract<BusMessage, { type: 'events' }>['events'][number]

function everySo(often: number): () => boolean {
  let count = 0
  return () => {
    count += 1
    return count % often === 0
  }
}

function isUpdate(frame: Uint8Array): boolean {
  return Buffer.from(frame).includes('"seq":') && Buffer.from(frame).includes('"event_id":')
}

function passed(connection: ClientConnection): ClientConnection {
  return {
    send: frame => connection.send(frame),
    sendText: message => connection.sendText(message),
    get isBehind() {
      return connection.isBehind
    },
    idle: () => connection.idle(),
    finish: (code, reason) => connection.finish(code, reason),
    pause: () => connection.pause(),
    resume: () => connection.resume()
  }
}

function passedBroker(broker: Broker): Broker {
  return { ...broker }
}

function passedOwnership(ownership: Ownership): Ownership {
  return {
    ownerOf: userKey => ownership.ownerOf(userKey),
    fenceOf: userKey => ownership.fenceOf(userKey),
    changed: ms => ownership.changed(ms),
    listen: listener => ownership.listen(listener)
  }
}

function overBrokers(
  wrap: (broker: Broker) => Broker,
  wrapCredentials: (credentials: CredentialsHolder) => CredentialsHolder = credentials => credentials
): (deps: Deps) => Deps {
  return deps => {
    const wrapped = [...deps.brokers].map(([id, definition]): [typeof id, BrokerDefinition] => [
      id,
      { ...definition, open: credentials => wrap(definition.open(wrapCredentials(credentials))) }
    ])
    return { ...deps, brokers: new Map(wrapped) }
  }
}

/** The part with one of its methods replaced, given the real one. */
function withMethod<Part extends object, Name extends keyof Part>(part: Part, name: Name, replace: (real: Part[Name]) => Part[Name]): Part {
  return new Proxy(part, { get: (real, method) => (method === name ? replace(real[name]) : Reflect.get(real, method)) })
}

async function* doubled(events: AsyncIterable<AccountEvent>): AsyncGenerator<AccountEvent, void, undefined> {
  for await (const event of events) yield event.type === 'order' ? { ...event, report: twice(event.report) } : event
}

function twice(report: OrderReport): OrderReport {
  const again = (fill: Fill): Fill => ({ ...fill, fillId: `${fill.fillId}-again` })
  return { ...report, fills: report.fills?.flatMap(fill => [fill, again(fill)]) ?? null }
}

function never(): never {
  throw new Error('a record of no change at all')
}
