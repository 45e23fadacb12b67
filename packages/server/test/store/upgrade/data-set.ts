// A small data set with something of every kind the store keeps, and what a store must read back of it.
import type { Platform } from '@trunkline/core/domain/account'
import type { OperatorKeyId, OperatorSessionId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { Page, PageRequest, Store } from '@trunkline/core/ports/store'
import * as make from '@trunkline/testkit/store-contract/records'

/** What a reader must know beforehand, since only hashes of it are stored. */
export interface Keys {
  readonly attemptTokenHash: string
  readonly stateHash: string
  readonly tokenHash: string
}

const ALL = { limit: 100, descending: false, edge: null } as const satisfies PageRequest
const EXECUTED = { lastExecTime: make.at(2), lastModifiedTime: make.at(2), systemTime: make.at(2) }

/** Fills an empty store. */
export async function fill(store: Store): Promise<Keys> {
  const owner = await make.owner(store, { accounts: 2, userId: 'customer 17' })
  const keys = { attemptTokenHash: make.hash(), stateHash: make.hash(), tokenHash: make.hash() }
  const attempt = make.attempt(owner.user)
  await store.attempts.create(attempt, keys.attemptTokenHash, make.audit('connection.start'))
  const step = { broker: owner.connection.broker, stateHash: keys.stateHash, verifier: make.sealed(), at: make.at(1) }
  await store.attempts.begin(attempt.attemptId, step)
  await store.attempts.countTry(attempt.attemptId, 5)
  await store.tokens.create({ ...make.token(owner), tokenHash: keys.tokenHash }, make.audit('token.create'))
  await fillRecords(store, owner)
  await fillOrders(store, owner)
  await fillLogins(store, owner)
  await fillWebhooks(store, owner)
  await store.audit.seal(1_000)
  await store.audit.append(make.audit('after.the.seal', { facts: 'kept "as they were"', count: 2, none: null }))
  return keys
}

/** What operators prove themselves with, which is no part of the store port. */
export async function fillOperators({ operators }: { readonly operators: OperatorStore }): Promise<void> {
  const [used, open] = [make.hash(), make.hash()]
  const code = { operator: 'ada@host', scopes: ['read', 'manage'], lifetimeMs: 600_000 } as const
  for (const codeHash of [used, open]) await operators.createCode({ ...code, codeHash }, make.audit('operator.link'))
  const session = { sessionId: make.uuid<OperatorSessionId>(), secretHash: make.hash(), lifetimeMs: 3_600_000 }
  await operators.exchange(used, session, () => make.audit('operator.login'))
  await operators.useLogin(make.hash(), 3_600_000, 100)
  const key = { keyId: make.uuid<OperatorKeyId>(), name: 'reports', scopes: ['read'], createdBy: 'ada@host' } as const
  await operators.createKey(
    { ...key, createdAt: make.at(0), lastUsedAt: null, expiresAt: null },
    make.hash(),
    100,
    make.audit('operator.key_create')
  )
}

async function fillRecords(store: Store, { account }: make.Owner): Promise<void> {
  await store.accounts.putBalances(account, [make.balance(account, '1000.10'), make.balance(account, '-5', 'EUR')])
  await store.accounts.putPositions(account, [make.position(account, 'SPY', '10'), make.position(account, 'AIG', '-2.5')], make.at(0))
  await store.accounts.putPositions(account, [make.position(account, 'SPY', '12', make.at(5))], make.at(5))
  const span = { from: make.day('2026-11-01'), to: make.day('2026-11-20'), at: make.at(0) }
  await store.accounts.putTransactions(account, [make.transaction(account, 't-1', '2026-11-19')], span)
  await store.orders.confirmed(account, make.at(7))
}

async function fillOrders(store: Store, owner: make.Owner): Promise<void> {
  const placed = (more: Partial<Order> = {}) => make.order(owner, more)
  const acknowledged = { state: 'acknowledged', since: make.at(1), attempts: 1, method: 'reply' } as const
  const [pending, working, filled, spread] = [
    placed(),
    placed(),
    placed(),
    placed({ symbol: null, instrument: 'MLEG_OPT', type: 'MKT', limitPrice: null, legs: legs() })
  ]
  await store.orders.record([pending, working, filled, spread].map(order => make.created(order, { audit: make.audit('order.place') })))
  const accepted = { status: 'working', submission: acknowledged } as const
  const next = make.moved(working, { ...accepted, brokerOrderId: 'b-1' })
  await store.orders.record([next, make.moved(filled, { ...accepted, brokerOrderId: 'b-2' })])
  const done = {
    status: 'filled',
    brokerOrderId: 'b-2',
    brokerStatus: 'FLL',
    fills: [make.fill('e-1'), make.fill('e-2')],
    ...EXECUTED
  } as const
  await store.orders.record([make.moved({ ...filled, ...accepted, revision: 2 }, done)])
  const request = { kind: 'cancel', requestedAt: make.at(3), sentAt: make.at(3), successorId: null, takenAt: null } as const
  await store.orders.record([make.moved(next.order, { status: 'pending_cancel', pendingRequest: request, lastModifiedTime: make.at(3) })])
  await store.orders.record([make.moved(spread, { ...accepted, brokerOrderId: 'b-3', legs: legs([make.fill('e-3')]) })])
  const option = placed({ symbol: 'AAPL261218C00200000', instrument: 'OPT', status: 'rejected' })
  await store.orders.record([make.created(option)])
}

function legs(fills: NonNullable<Order['legs']>[number]['fills'] = []): Order['legs'] {
  const ratio = make.decimal('1')
  return [
    { symbol: 'AAPL261218C00200000', side: 'BUY', ratio, fills },
    { symbol: 'AAPL261218C00210000', side: 'SELL', ratio, fills: [] }
  ]
}

async function fillLogins(store: Store, { platform, user, connection }: make.Owner): Promise<void> {
  const claim = { revision: 1, holder: 'a node that died', at: make.at(0), until: make.at(60_000) }
  await store.connections.claimRefresh(connection.connectionId, claim)
  const broken = await make.connected(store, user, 1, make.at(10))
  await store.connections.markBroken(broken.connection.connectionId, 'the login was refused', make.at(11), make.audit('connection.broken'))
  const gone = await make.connected(store, user, 1, make.at(20))
  await store.connections.remove(gone.connection.connectionId, make.at(21), make.audit('connection.delete'))
  const [attempt, unclaimed] = [make.attempt(user), make.connection(user, make.at(30))]
  await store.attempts.create(attempt, make.hash(), make.audit('connection.start'))
  const pending = { codeHash: make.hash(), expiresAt: make.at(600_000) }
  const waiting = [make.account(unclaimed)]
  await store.connections.create(unclaimed, waiting, make.sealed(), attempt.attemptId, make.audit('connection.create'), pending)
  await store.streamSlots.take({ ...make.slot(platform, 'a node'), sessionId: 'a session' }, 10, 3_600_000)
}

async function fillWebhooks(store: Store, { platform, user, account }: make.Owner): Promise<void> {
  const endpoint = make.webhookEndpoint(platform, { filter: { topics: ['orders'], orderStatuses: ['filled'] } })
  await store.webhooks.endpoints.create(endpoint, make.sealed(), 16, make.audit('webhook.create'))
  const { endpointId } = endpoint
  const delivery = make.webhookDelivery(endpointId, user.userKey, { failure: 'timeout', answer: null, retryAt: make.at(6_000) })
  // A cursor begins at the end of the log, and does not move back.
  const seq = await store.events.last(user.userKey)
  await store.accounts.putPositions(account, [make.position(account, 'SPY', '14', make.at(8))], make.at(8))
  const cursor = { seq, tryingTo: seq + 1, attempts: 1, retryAt: make.at(6_000) }
  await store.webhooks.cursors.progress({ endpointId, userKey: user.userKey, cursor, delivery })
}

/** Everything the store's interface returns of the data set, in a fixed order. */
export async function readBack(store: Store, keys: Keys): Promise<unknown> {
  const platforms = await store.platforms.list()
  const connections = (
    await Promise.all(platforms.map(({ platformId }) => all(page => store.connections.listByPlatform(platformId, null, page))))
  ).flat()
  const accounts = await store.accounts.listByConnections(connections.map(({ connectionId }) => connectionId))
  const ids = accounts.map(({ accountId }) => accountId)
  return {
    platforms,
    users: await Promise.all(platforms.map(({ platformId }) => usersOf(store, platformId))),
    attempt: await store.attempts.findByTokenHash(keys.attemptTokenHash),
    login: await store.attempts.findByStateHash(keys.stateHash),
    token: await store.tokens.find(keys.tokenHash),
    connections,
    credentials: await Promise.all(connections.map(({ connectionId }) => store.connections.credentials(connectionId))),
    revocations: await store.connections.dueRevocations(make.at(1e9), 10),
    accounts,
    balances: await store.accounts.balances(ids),
    positions: await store.accounts.positions(ids),
    transactions: (await store.accounts.transactions(ids, { from: make.day('1990-01-01'), to: make.day('2100-01-01'), types: null }, ALL))
      .rows,
    freshness: await Promise.all(ids.map(id => store.accounts.freshness(id))),
    orders: await ordersOf(store, ids),
    unfinished: await Promise.all(ids.map(accountId => store.orders.unfinished({ accountId }))),
    unresolved: await store.orders.unresolved(10),
    webhooks: await webhooksOf(store, platforms),
    audit: { verified: await store.audit.verify(), entries: await store.audit.list(100) }
  }
}

async function usersOf(store: Store, platformId: Parameters<Store['users']['list']>[0]): Promise<unknown> {
  const users = await all(page => store.users.list(platformId, {}, 'createdAt', page))
  return Promise.all(
    users.map(async ({ userKey, userId }) => ({
      found: await store.users.find(platformId, userId),
      span: await store.events.span(userKey),
      events: await store.events.read(userKey, 0, 100)
    }))
  )
}

/** Each endpoint with its keys, where it is for each user, and what was sent to it. */
async function webhooksOf(store: Store, platforms: readonly Platform[]): Promise<unknown> {
  const { endpoints, cursors, deliveries } = store.webhooks
  const found = await Promise.all(
    platforms.map(async ({ platformId }) => {
      const [users, known] = [await all(page => store.users.list(platformId, {}, 'createdAt', page)), await endpoints.list(platformId)]
      return known.map(endpoint => ({ platformId, endpoint, users }))
    })
  )
  return Promise.all(
    found.flat().map(async ({ platformId, endpoint, users }) => ({
      known: await endpoints.find(platformId, endpoint.endpointId),
      cursors: await Promise.all(users.map(({ userKey }) => cursors.find(endpoint.endpointId, userKey))),
      // Whatever its filter passes: a count of none would show nothing.
      lag: await cursors.lag({ ...endpoint, filter: { topics: null, orderStatuses: null } }),
      deliveries: (await deliveries.list(endpoint.endpointId, {}, ALL)).rows
    }))
  )
}

async function ordersOf(store: Store, accountIds: Parameters<Store['accounts']['balances']>[0]): Promise<readonly Order[]> {
  const orders = await all(page => store.orders.list({ accountIds }, 'entryTime', page))
  return orders.toSorted((a, b) => (a.orderId < b.orderId ? -1 : 1))
}

async function all<T>(page: (request: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  return (await page(ALL)).rows
}
