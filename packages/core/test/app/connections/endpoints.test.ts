// Credentials are used only at the endpoint where they were made, whatever the columns beside them contain.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCredentials, StoredCredentials, sealContext, sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import { EndpointChanged } from '@trunkline/core/app/broker-access/endpoints'
import { EndpointsInUse, settleEndpoints } from '@trunkline/core/app/broker-access/settle-endpoints'
import { claimConnection } from '@trunkline/core/app/connections/claim-connection'
import { demandTradable } from '@trunkline/core/app/orders/tradable'
import type { BrokerEndpoint } from '@trunkline/core/domain/account'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { ENDPOINT } from '@trunkline/testkit/store-contract/records'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const LIVE: BrokerEndpoint = { environment: 'live', host: 'api.live.example' }
const SIGNAL = new AbortController().signal

/** The world's service with other settings. */
const at = ({ deps }: World, endpoint: BrokerEndpoint): World['deps'] => ({
  ...deps,
  brokers: new Map([...deps.brokers].map(([id, definition]) => [id, { ...definition, ...endpoint }]))
})
const statusOf = async ({ connection }: World) => {
  const found = await bench.store.connections.find(connection.connectionId)
  return [found?.status, found?.brokenCode, found?.endpoint?.host]
}

test('credentials open only for the endpoint where they were made: another host or another environment is refused [S24]', async () => {
  await using world = await bench.world()
  const { deps, connection } = world
  const value = sealCredentials(deps.vault, connection, { credentials: { token: 't' }, endpoint: LIVE }, 1)
  assert.deepEqual(openCredentials(deps.vault, connection, value, LIVE), { token: 't' })
  for (const other of [ENDPOINT, { ...LIVE, host: 'api.live.example:444' }, { ...LIVE, environment: 'paper' }] as const)
    assert.throws(() => openCredentials(deps.vault, connection, value, other), EndpointChanged)
})

test('changing the endpoint column does not make sealed credentials valid for another endpoint [S24]', async () => {
  await using world = await bench.world()
  const { deps, connection } = world
  const forged = { ...connection, endpoint: LIVE }
  const refused = (made: string) => (cause: unknown) =>
    cause instanceof BrokerFault && cause.kind === 'refused' && cause.message.includes(`made in the ${made}`)
  await assert.rejects(new StoredCredentials(deps, forged, LIVE).read(SIGNAL), refused('sandbox'))
  assert.throws(() => world.parts.sessions.get(forged), refused('live'))
})

test('a connection is suspended at another endpoint and resumes at its own; one that the broker rejected stays BROKEN', async () => {
  await using world = await bench.world()
  await settleEndpoints(at(world, LIVE))
  assert.deepEqual(await statusOf(world), ['BROKEN', 'environment_changed', 'local'])
  await settleEndpoints(at(world, LIVE))
  await settleEndpoints(world.deps)
  assert.deepEqual(await statusOf(world), ['ACTIVE', null, 'local'])
  await bench.store.connections.markBroken(world.connection.connectionId, 'invalid_grant', world.clock.now(), {
    ...{
      at: world.clock.now(),
      actor: 'service',
      action: 'connection.break',
      target: '-',
      result: 'ok',
      ip: null,
      requestId: null,
      detail: {}
    }
  })
  await settleEndpoints(at(world, LIVE))
  await settleEndpoints(world.deps)
  assert.deepEqual(await statusOf(world), ['BROKEN', 'credentials_rejected', 'local'])
})

test('a node with other settings is refused while other nodes run, and breaks no connection', async () => {
  await using world = await bench.world()
  const nodes = ['trunkline/22 one 7', 'trunkline/22 two 8']
  const refused = (cause: unknown) => {
    assert.ok(cause instanceof EndpointsInUse)
    assert.match(
      cause.message,
      /is set to live api\.live\.example here, and has connections made at sandbox local\..*one 7; trunkline\/22 two 8\./
    )
    return true
  }
  await assert.rejects(settleEndpoints(at(world, LIVE), nodes), refused)
  assert.deepEqual(await statusOf(world), ['ACTIVE', null, 'local'])
  await settleEndpoints(world.deps, nodes)
  await settleEndpoints(at(world, LIVE))
  assert.deepEqual(await statusOf(world), ['BROKEN', 'environment_changed', 'local'], 'nobody else uses it')
  const connection = await bench.store.connections.find(world.connection.connectionId)
  assert.ok(connection !== null)
  const order = () => demandTradable(world.deps, { account: world.account, connection })
  assert.throws(order, /made in another environment of the broker/, 'the broker did not reject the login')
  await settleEndpoints(at(world, LIVE), nodes)
  await settleEndpoints(world.deps, nodes)
  assert.deepEqual(await statusOf(world), ['ACTIVE', null, 'local'])
})

test('a login from before endpoints were recorded belongs permanently to the settings of the first start', async () => {
  await using world = await bench.world()
  const { connectionId } = world.connection
  const old = world.deps.vault.seal(JSON.stringify({ token: 'old' }), sealContext(world.connection, 3))
  await bench.store.connections.replaceCredentials(connectionId, 2, { sealed: old, revision: 3 })
  const items = await bench.store.connections.withoutEndpoint('connection', world.connection.broker, null, 10)
  assert.deepEqual(items, [], 'the record has an endpoint already')
  assert.throws(() => openCredentials(world.deps.vault, world.connection, { sealed: old, revision: 3 }, ENDPOINT), EndpointChanged)
  const unrecorded: World['deps'] = {
    ...world.deps,
    store: {
      ...world.deps.store,
      connections: new Proxy(bench.store.connections, {
        get(real, name) {
          if (name === 'withoutEndpoint')
            return async (place: string, _broker: string, from: string | null) =>
              place !== 'connection' || from !== null
                ? []
                : [{ place, connectionId, userKey: world.connection.userKey, credentials: { sealed: old, revision: 3 } }]
          const value = Reflect.get(real, name, real)
          return typeof value === 'function' ? value.bind(real) : value
        }
      })
    }
  }
  await settleEndpoints(at({ ...world, deps: unrecorded } as World, LIVE))
  const stored = await bench.store.connections.credentials(connectionId)
  assert.ok(stored !== null)
  assert.deepEqual(openCredentials(world.deps.vault, world.connection, stored, LIVE), { token: 'old' })
  assert.deepEqual(await statusOf(world), ['ACTIVE', null, LIVE.host])
  await settleEndpoints(world.deps)
  assert.deepEqual(await statusOf(world), ['BROKEN', 'environment_changed', LIVE.host])
})

test('a login that waits for its claim is not claimed in another environment, and refusals are not audited one by one [S24]', async () => {
  await using world = await bench.world()
  const { user } = world.caller
  const [attempt, connection, code] = [make.attempt(user), { ...make.connection(user), broker: world.connection.broker }, 'its-own-code']
  await bench.store.attempts.create(attempt, make.hash(), make.audit())
  const expiresAt = timestampOfMs(epochMs(world.clock.now()) + 60_000)
  const pending = { codeHash: world.deps.hasher.hash(code), expiresAt }
  await bench.store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit(), pending)
  const claim = (app: World['app'], what: string) => claimConnection(app, world.caller, connection.connectionId, what)
  const refused = (message: RegExp) => ({ name: 'ServiceError', code: 'claim_refused', message })
  const [newest] = await bench.store.audit.list(1)
  await assert.rejects(claim({ ...world.app, brokers: at(world, LIVE).brokers }, code), refused(/api\.live\.example/))
  await assert.rejects(claim(world.app, 'another'), refused(/claim_code/))
  assert.deepEqual(await bench.store.audit.list(1), [newest])
  assert.equal(await bench.store.connections.find(connection.connectionId), null)
  assert.equal((await claim(world.app, code)).connection.status, 'ACTIVE')
})
