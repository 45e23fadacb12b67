// A login is renewed in place: the same login and ids, all or nothing, and open orders are followed again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCredentials, StoredCredentials } from '@trunkline/core/app/broker-access/credentials'
import { establish } from '@trunkline/core/app/connect/establish'
import type { PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import { type AttemptRequest, startAttempt } from '@trunkline/core/app/connect/start-attempt'
import type { Account } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import { type BrokerAccount, BrokerFault } from '@trunkline/core/ports/broker'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import { ENDPOINT } from '@trunkline/testkit/store-contract/records'
import { withMethods } from '@trunkline/testkit/with-methods'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const REDIRECT = 'https://app.example.com/linked'
const REQUEST: AttemptRequest = { connectionType: null, broker: null, redirectUrl: null, redirectOnErrorUrl: null }
const REFUSED = new BrokerFault('credentials_rejected', 'invalid_grant')
const NEVER = new AbortController().signal

const callerOf = ({ caller }: World, claims = false) => ({ ...caller, platform: { ...caller.platform, redirectAllowList: [], claims } })
const seenAtBroker = ({ accountId: _, connectionId: _c, userKey: _u, broker: _b, ...account }: Account): BrokerAccount => account
const another = (brokerAccountId: string, { accounts: [first] }: World): BrokerAccount => ({
  ...seenAtBroker(first ?? assert.fail()),
  ...{ brokerAccountId, accountNumber: brokerAccountId }
})

/** The user logs in with these accounts. */
async function logIn(
  world: World,
  accounts: readonly BrokerAccount[] | (() => readonly BrokerAccount[]),
  at: World['deps'] = world.deps,
  leftOut?: readonly (string | null)[]
): Promise<PortalOutcome> {
  const { connection } = world
  const request = { ...REQUEST, redirectUrl: REDIRECT, renewConnectionId: connection.connectionId }
  const { token } = await startAttempt(world.deps, callerOf(world), request)
  const attempt = (await bench.store.attempts.findByTokenHash(world.deps.hasher.hash(token))) ?? assert.fail()
  assert.deepEqual([attempt.broker, attempt.connectionType], [connection.broker, connection.connectionType])
  const definition = at.brokers.get(connection.broker) ?? assert.fail()
  const reads = {
    ...definition,
    open: () =>
      withMethods(definition.open(new StoredCredentials(at, connection, ENDPOINT)), {
        accounts: async () => ({
          items: typeof accounts === 'function' ? accounts() : accounts,
          ...(leftOut === undefined ? {} : { leftOut })
        })
      })
  }
  return establish(at, attempt, reads, { token: 'renewed' }, { browser: 'mine', ip: null, requestId: null })
}

async function stored({ connection, deps }: World) {
  const { connectionId } = connection
  const sealed = (await bench.store.connections.credentials(connectionId)) ?? assert.fail()
  return {
    connection: await bench.store.connections.find(connectionId),
    accounts: await bench.store.accounts.listByConnections([connectionId]),
    credentials: openCredentials(deps.vault, connection, sealed, ENDPOINT)
  }
}

test('a BROKEN connection becomes ACTIVE with the same ids, its open order is followed, and a new account is added', async () => {
  await using world = await bench.world()
  const { connectionId } = world.connection
  const order = await world.given(world.place())
  await world.live()
  await world.given(world.parts.sessions.reportFault(world.connection, REFUSED))
  assert.equal((await stored(world)).connection?.status, 'BROKEN')
  await world.clock.until(() => !world.app.mirrors.isLive(connectionId), 'the mirror has ended')
  const outcome = await logIn(world, [another('second', world), ...world.accounts.map(seenAtBroker)])
  assert.equal(outcome.redirect, `${REDIRECT}?connection_id=${connectionId}`)
  const { connection, accounts, credentials } = await stored(world)
  assert.deepEqual(connection, { ...world.connection, updatedAt: connection?.updatedAt })
  assert.deepEqual(credentials, { token: 'renewed' })
  assert.deepEqual(accounts.slice(0, 1), world.accounts)
  assert.equal(accounts[1]?.brokerAccountId, 'second')
  await world.clock.until(() => world.app.mirrors.isLive(connectionId), 'its open order is followed without anybody asking')
  const states = world.healths.map(({ state }) => state)
  assert.deepEqual(
    states.slice(states.indexOf('broken')).filter((state, index, all) => state !== all[index - 1]),
    ['broken', 'polling', 'live']
  )
  assert.equal((await world.stored(order)).status, 'working')
  assert.equal((await world.given(world.place())).status, 'working')
})

test('another login changes nothing: its tokens are revoked if none of its accounts is the connection’s', async () => {
  await using world = await bench.world({ accounts: 2 })
  const revoked: unknown[] = []
  world.broker.revoke = async credentials => void revoked.push(credentials)
  const before = await stored(world)
  const [first] = world.accounts.map(seenAtBroker)
  assert.ok(first !== undefined)
  for (const [accounts, count] of [
    [[another('theirs', world)], 1],
    [[], 2],
    // One of two accounts: possibly the same login with fewer rights, whose grant the connection may use.
    [[first], 2]
  ] as const) {
    const outcome = await logIn(world, accounts)
    const { searchParams } = new URL(outcome.redirect ?? assert.fail())
    assert.deepEqual([outcome.reason, searchParams.get('error'), searchParams.get('connection_id')], ['other_login', '400', null])
    assert.match(searchParams.get('error_details') ?? '', /Another login came back/)
    assert.deepEqual(await stored(world), before)
    assert.equal(revoked.length, count)
    const [entry] = await bench.store.audit.list(1)
    assert.deepEqual([entry?.action, entry?.result, entry?.target], ['connection.renew', 'refused', world.connection.connectionId])
  }
})

test('a renewal that fails revokes its grant, unless that could end another login or the grant may be stored', async () => {
  for (const [revocation, isGivenBack] of [
    ['grant', true],
    ['customer', false]
  ] as const) {
    await using world = await bench.world({ capabilities: { revocation } })
    const revoked: unknown[] = []
    world.broker.revoke = async credentials => void revoked.push(credentials)
    const accounts = world.accounts.map(seenAtBroker)
    const over = (connections: Partial<World['deps']['store']['connections']>): World['deps'] => ({
      ...world.deps,
      store: { ...world.deps.store, connections: withMethods(world.deps.store.connections, connections) }
    })
    const failing: readonly (readonly [World['deps'], () => readonly BrokerAccount[]])[] = [
      [world.deps, () => assert.fail('the accounts cannot be read')],
      [over({ find: async () => null }), () => accounts],
      [over({ renew: async () => 'gone' }), () => accounts],
      [over({ renew: async () => 'ended' }), () => accounts],
      [over({ renew: async () => 'moved' }), () => accounts],
      [over({ renew: () => Promise.reject(new StoreUnavailable('full')) }), () => accounts]
    ]
    for (const [index, [deps, read]] of failing.entries()) {
      const outcome = await logIn(world, read, deps).catch(() => null)
      assert.notEqual(outcome?.reason, 'connected', `${index}`)
      assert.equal(revoked.length, isGivenBack ? index + 1 : 0, `${revocation} ${index}`)
    }
    revoked.length = 0
    await assert.rejects(logIn(world, () => accounts, over({ renew: () => Promise.reject(new CommitUnknown('the line was lost')) })))
    assert.equal((await logIn(world, () => accounts)).reason, 'connected')
    assert.deepEqual(revoked, [])
  }
})

test('a refresh in progress is superseded, and its refusal does not count against the new login', async () => {
  await using world = await bench.world()
  const holder = new StoredCredentials(world.deps, world.connection, ENDPOINT)
  const old = await holder.read(NEVER)
  const loggedIn = Promise.withResolvers<string>()
  const renewed = holder.renew(
    old,
    async () => {
      loggedIn.resolve((await logIn(world, world.accounts.map(seenAtBroker))).reason)
      throw REFUSED
    },
    NEVER
  )
  // The virtual clock does not wait for a whole login, and a refresh has a time limit.
  assert.equal(await loggedIn.promise, 'connected')
  assert.deepEqual(await world.given(renewed), { token: 'renewed' })
  assert.equal(await world.parts.sessions.reportFault(world.connection, REFUSED), false)
  assert.equal((await stored(world)).connection?.status, 'ACTIVE')
  world.broker.rejects = new BrokerFault('unreachable', 'no answer')
  assert.equal(await world.given(world.parts.sessions.reportFault(world.connection, REFUSED)), false, 'silence is no refusal')
  assert.equal((await stored(world)).connection?.status, 'ACTIVE')
})

test('a refusal of the new login breaks the connection at once, and orders report it', async () => {
  await using world = await bench.world()
  await logIn(world, world.accounts.map(seenAtBroker))
  world.broker.rejects = REFUSED
  const order = await world.given(world.place())
  assert.deepEqual([order.status, order.submission.state, order.submission.attempts], ['rejected', 'not_sent', 0])
  assert.match(order.brokerMessage ?? '', /no longer accepts the login/)
  assert.equal((await stored(world)).connection?.status, 'BROKEN')
  await assert.rejects(
    world.given(world.place({ clOrdId: 'next' })),
    (cause: unknown) => cause instanceof ServiceError && cause.code === 'connection_broken'
  )
})

test('only the user’s own connection, in its current state, can be renewed', async () => {
  await using world = await bench.world()
  await using other = await bench.world()
  const { connectionId } = world.connection
  const code = async (by: World, change: Partial<AttemptRequest>, deps = world.deps) =>
    await startAttempt(deps, callerOf(by, true), { ...REQUEST, renewConnectionId: connectionId, ...change }).then(
      () => 'started',
      (cause: unknown) => (cause instanceof ServiceError ? cause.code : cause)
    )
  assert.equal(await code(other, {}), 'connection_not_found')
  assert.equal(await code(world, { connectionType: 'readonly' }), 'field_invalid')
  assert.equal(await code(world, { broker: parseBrokerId('ELSEWHERE') }), 'field_invalid')
  const live = [...world.deps.brokers].map(([id, definition]) => [id, { ...definition, environment: 'live' }] as const)
  assert.equal(await code(world, {}, { ...world.deps, brokers: new Map(live) }), 'connection_broken')
  // No code has to be returned, so a platform with claims needs no address.
  assert.equal(await code(world, { connectionType: 'trade', broker: world.connection.broker }), 'started')
})

test('for a platform with claims, a renewal adds no account, and a connection removed meanwhile is not renewed', async () => {
  await using world = await bench.world()
  const claiming: World['deps'] = {
    ...world.deps,
    store: {
      ...world.deps.store,
      platforms: withMethods(world.deps.store.platforms, { find: async () => callerOf(world, true).platform })
    }
  }
  const accounts = [...world.accounts.map(seenAtBroker), another('second', world)]
  assert.equal((await logIn(world, accounts, claiming)).reason, 'connected')
  assert.deepEqual((await stored(world)).accounts, world.accounts)
  const removed: World['deps'] = {
    ...world.deps,
    store: { ...world.deps.store, connections: withMethods(world.deps.store.connections, { find: async () => null }) }
  }
  assert.equal((await logIn(world, accounts, removed)).reason, 'not_renewable')
})

test('an account that could not be read is not gone: named, it is there; unnamed, the login is not known to be the same', async () => {
  await using world = await bench.world({ accounts: 2 })
  const [first, second] = world.accounts.map(seenAtBroker)
  assert.ok(first !== undefined && second !== undefined)
  const before = await stored(world)
  for (const unnamed of [[null], ['elsewhere', null]])
    await assert.rejects(logIn(world, [first], world.deps, unnamed), { kind: 'malformed' })
  // Two are missing, and one could not be read.
  assert.equal((await logIn(world, [another('other', world)], world.deps, [null])).reason, 'other_login')
  assert.equal((await logIn(world, [first], world.deps, ['elsewhere'])).reason, 'other_login')
  assert.deepEqual(await stored(world), before)
  assert.equal((await logIn(world, [first], world.deps, [second.brokerAccountId])).reason, 'connected')
  const { accounts, credentials } = await stored(world)
  assert.deepEqual([accounts, credentials], [world.accounts, { token: 'renewed' }])
})

test('a login of which not one account can be read makes no connection', async () => {
  await using world = await bench.world()
  await assert.rejects(logIn(world, [], world.deps, [world.account.brokerAccountId]), { kind: 'malformed' })
})

test('no login can renew a connection without accounts, because its owner cannot be identified', async () => {
  await using world = await bench.world()
  const accounts = withMethods(world.deps.store.accounts, { listByConnections: async () => [] })
  const { reason } = await logIn(world, world.accounts.map(seenAtBroker), { ...world.deps, store: { ...world.deps.store, accounts } })
  assert.equal(reason, 'other_login')
})
