// Credentials: renewed once for all callers, written before they are used, never lost between broker and store.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCredentials, StoredCredentials, sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { SealKeyMissing, type Vault } from '@trunkline/core/ports/vault'
import { Bench, type World } from '@trunkline/testkit/bench'
import { ENDPOINT, uuid } from '@trunkline/testkit/store-contract/records'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const NEVER = new AbortController().signal

function holderOf(world: World): StoredCredentials {
  return new StoredCredentials(world.deps, world.connection, ENDPOINT)
}

async function stored(world: World): Promise<Credentials> {
  const value = await bench.store.connections.credentials(world.connection.connectionId)
  assert.ok(value)
  return openCredentials(world.deps.vault, world.connection, value, ENDPOINT)
}

/** A broker that issues a new token each time and accepts every token once. */
function rotating(): { readonly refresh: (current: Credentials) => Promise<Credentials>; readonly used: string[] } {
  const used: string[] = []
  return {
    used,
    refresh: async ({ token }) => {
      await new Promise(resolve => setImmediate(resolve))
      if (token === undefined || used.includes(token)) throw new BrokerFault('credentials_rejected', 'invalid_grant')
      used.push(token)
      return { token: `${token}+` }
    }
  }
}

test('twenty concurrent callers that need a new token share one refresh [S21]', async () => {
  await using world = await bench.world()
  const holder = holderOf(world)
  const { refresh, used } = rotating()
  const first = await holder.read(NEVER)
  const renewed = await Promise.all(Array.from({ length: 20 }, () => holder.renew(first, refresh, NEVER)))
  assert.equal(new Set(renewed).size, 1)
  assert.deepEqual([used, await stored(world), renewed[0]], [['t-1'], { token: 't-1+' }, { token: 't-1+' }])
  // A late caller, with the previous token.
  assert.equal(await holder.renew(first, refresh, NEVER), renewed[0])
  assert.equal(used.length, 1)
})

test('a refresh that fails stores nothing, fails for all callers that wait, and can be tried again', async () => {
  await using world = await bench.world()
  const holder = holderOf(world)
  const first = await holder.read(NEVER)
  const down = () => Promise.reject(new BrokerFault('unreachable', 'down'))
  const results = await Promise.allSettled([holder.renew(first, down, NEVER), holder.renew(first, down, NEVER)])
  assert.ok(results.every(result => result.status === 'rejected' && result.reason instanceof BrokerFault))
  assert.deepEqual(await stored(world), { token: 't-1' })
  assert.deepEqual(await holder.renew(first, rotating().refresh, NEVER), { token: 't-1+' })
})

test('another node’s newer token is used instead of a refresh, before and after the request to the broker', async () => {
  await using world = await bench.world()
  const [holder, other] = [holderOf(world), holderOf(world)]
  const { refresh, used } = rotating()
  const [first, same] = [await holder.read(NEVER), await other.read(NEVER)]
  await other.renew(same, refresh, NEVER)
  assert.deepEqual(await holder.renew(first, refresh, NEVER), { token: 't-1+' })
  assert.equal(used.length, 1)

  const second = await holder.read(NEVER)
  const overtaken = async () => {
    const { connectionId } = world.connection
    await bench.store.connections.replaceCredentials(
      connectionId,
      3,
      sealCredentials(world.deps.vault, world.connection, { credentials: { token: 'theirs' }, endpoint: ENDPOINT }, 4)
    )
    return { token: 'ours' }
  }
  assert.deepEqual(await holder.renew(second, overtaken, NEVER), { token: 'theirs' })
})

for (const [title, times, write] of [
  ['could not be written', 2, () => Promise.reject(new StoreUnavailable('no room'))],
  [
    'was written without confirmation',
    1,
    async (go: () => Promise<unknown>) => {
      await go()
      throw new CommitUnknown('lost at the commit')
    }
  ]
] as const) {
  test(`a new token that ${title} is not lost: the broker would not accept the old one again`, async () => {
    await using world = await bench.world()
    const holder = holderOf(world)
    const { refresh, used } = rotating()
    const first = await holder.read(NEVER)
    let failures: number = times
    world.watched.intercept = call => {
      if (call.name !== 'connections.replaceCredentials' || failures === 0) return call.go()
      failures -= 1
      return write(call.go)
    }
    await assert.rejects(holder.renew(first, refresh, NEVER))
    let token = await holder.renew(first, refresh, NEVER).catch(() => null)
    token ??= await holder.renew(first, refresh, NEVER)
    assert.deepEqual([token, await stored(world), used], [{ token: 't-1+' }, { token: 't-1+' }, ['t-1']])
    // The next renewal works as usual.
    assert.deepEqual(await holder.renew(token, refresh, NEVER), { token: 't-1++' })
  })
}

for (const [title, swap] of [
  ['of another user', (world: World) => sealed(world, { ...world.connection, userKey: uuid<UserKey>() }, 3)],
  ['of another connection', (world: World) => sealed(world, { ...world.connection, connectionId: uuid<ConnectionId>() }, 3)],
  ['of an older revision', (world: World) => sealed(world, world.connection, 1)],
  ['of nobody', () => Buffer.from('not a seal')]
] as const)
  test(`stored credentials ${title} are not used: the connection is BROKEN with that reason, and an alarm is raised [S58]`, async () => {
    await using world = await bench.world()
    const { connectionId } = world.connection
    await bench.store.connections.replaceCredentials(connectionId, 2, { sealed: swap(world), revision: 3 })
    const isAltered = (cause: unknown) => cause instanceof BrokerFault && cause.kind === 'credentials_rejected'
    await assert.rejects(holderOf(world).read(NEVER), isAltered)
    const order = await world.given(world.place())
    assert.equal(order.submission.state, 'not_sent')
    const fault = await holderOf(world)
      .read(NEVER)
      .catch((cause: unknown) => cause)
    await world.parts.sessions.reportFault(world.connection, fault)
    const { status, brokenCode, brokenReason } = (await bench.store.connections.find(connectionId)) ?? {}
    assert.deepEqual([status, brokenCode], ['BROKEN', 'credentials_altered'])
    assert.match(String(brokenReason), /connect again/)
    assert.equal(world.counted.get('seals_broken_total SANDBOX') ?? world.counted.get(`seals_broken_total ${world.connection.broker}`), 1)
    assert.equal(world.logged.filter(({ level, message }) => level === 'error' && message.startsWith('ALARM')).length, 1)
  })

function sealed(world: World, place: Parameters<typeof sealCredentials>[1], revision: number): Uint8Array {
  return sealCredentials(world.deps.vault, place, { credentials: { token: 'stolen' }, endpoint: ENDPOINT }, revision).sealed
}

test('a missing master key breaks no connection: once it is restored, everything works', async () => {
  await using world = await bench.world()
  const vault: Vault = {
    ...{ currentKeyId: 'k', seal: () => assert.fail('not asked'), rewrap: () => null },
    open() {
      throw new SealKeyMissing('sealed with master key "k0", which is not among the master keys here')
    }
  }
  const holder = new StoredCredentials({ ...world.deps, vault }, world.connection, ENDPOINT)
  await assert.rejects(holder.read(NEVER), (cause: unknown) => cause instanceof BrokerFault && cause.kind === 'refused')
  assert.equal((await bench.store.connections.find(world.connection.connectionId))?.status, 'ACTIVE')
})

test('a refresh without an answer is remembered across processes, until there is a new token', async () => {
  await using world = await bench.world()
  const received: (boolean | undefined)[] = []
  const asking = (answer: () => Promise<Credentials>) => (_: Credentials, _signal: AbortSignal, mayBeSpent?: boolean) => {
    received.push(mayBeSpent)
    return answer()
  }
  const lost = asking(() => Promise.reject(new BrokerFault('unreachable', 'the answer was lost')))
  const refused = asking(() => Promise.reject(new BrokerFault('credentials_rejected', 'invalid_grant')))
  const paused = asking(() => Promise.reject(new BrokerFault('rate_limited', 'later')))
  const renewed = asking(() => Promise.resolve({ token: 'next' }))
  // A refusal does not use up the token.
  const holder = holderOf(world)
  const first = await holder.read(NEVER)
  for (const answer of [refused, paused, lost]) await assert.rejects(holder.renew(first, answer, NEVER))
  // Another process, such as the one after a restart.
  const after = holderOf(world)
  const same = await after.read(NEVER)
  for (const answer of [refused, paused, refused]) await assert.rejects(after.renew(same, answer, NEVER))
  const next = await after.renew(same, renewed, NEVER)
  await assert.rejects(after.renew(next, refused, NEVER))
  assert.deepEqual(received, [false, false, false, true, true, true, true, false])
})

test('a later caller waits for the refresh in progress, and uses its result', async () => {
  await using world = await bench.world()
  const [holder, other] = [holderOf(world), holderOf(world)]
  const [first, same] = [await holder.read(NEVER), await other.read(NEVER)]
  const answer = Promise.withResolvers<Credentials>()
  let calls = 0
  const slow = () => {
    calls += 1
    return answer.promise
  }
  const working = holder.renew(first, slow, NEVER)
  const waiting = other.renew(same, slow, NEVER)
  await world.clock.until(() => calls === 1, 'one asks the broker')
  await world.clock.advance(5_000)
  answer.resolve({ token: 'theirs' })
  assert.deepEqual(await world.given(Promise.all([working, waiting])), [{ token: 'theirs' }, { token: 'theirs' }])
  assert.equal(calls, 1)
})

test('a node that crashed during a refresh delays the next one, which is informed of it, for a bounded time', async () => {
  await using world = await bench.world()
  const { connectionId } = world.connection
  const at = world.clock.now()
  const until = timestampOfMs(epochMs(at) + 30_000)
  await bench.store.connections.claimRefresh(connectionId, { revision: 2, holder: 'dead', at, until })
  const holder = holderOf(world)
  const first = await holder.read(NEVER)
  const before = world.clock.monotonicMs()
  let received: boolean | undefined
  const next = await world.given(
    holder.renew(
      first,
      async (_, _signal, mayBeSpent) => {
        received = mayBeSpent
        return { token: 'next' }
      },
      NEVER
    )
  )
  assert.deepEqual([next, received], [{ token: 'next' }, true])
  const waited = world.clock.monotonicMs() - before
  assert.ok(waited >= 30_000 && waited < 31_000, `${waited} ms`)
})

test('a claim that cannot be released does no harm: the reported fault is the broker’s, and the next try is informed of it', async () => {
  await using world = await bench.world()
  const holder = holderOf(world)
  const first = await holder.read(NEVER)
  world.watched.intercept = call =>
    call.name === 'connections.releaseRefresh' ? Promise.reject(new StoreUnavailable('no room')) : call.go()
  const down = () => Promise.reject(new BrokerFault('unreachable', 'down'))
  await assert.rejects(holder.renew(first, down, NEVER), (error: unknown) => error instanceof BrokerFault && error.message === 'down')
  let received: boolean | undefined
  await holder.renew(
    first,
    async (_, _signal, mayBeSpent) => {
      received = mayBeSpent
      return { token: 'next' }
    },
    NEVER
  )
  assert.equal(received, true)
})

test('waiting for another node ends with the caller’s timeout, and sends no refresh', async () => {
  await using world = await bench.world()
  const [holder, other] = [holderOf(world), holderOf(world)]
  const [first, same] = [await holder.read(NEVER), await other.read(NEVER)]
  const answer = Promise.withResolvers<Credentials>()
  let calls = 0
  const slow = () => {
    calls += 1
    return answer.promise
  }
  const working = holder.renew(first, slow, NEVER)
  await world.clock.until(() => calls === 1, 'one asks the broker')
  const patience = new AbortController()
  const waiting = assert.rejects(
    other.renew(same, slow, patience.signal),
    (error: unknown) => error instanceof BrokerFault && error.kind === 'unreachable'
  )
  await world.clock.advance(1_000)
  patience.abort()
  await world.given(waiting)
  answer.resolve({ token: 'theirs' })
  await world.given(working)
  assert.deepEqual(await world.given(other.renew(same, slow, NEVER)), { token: 'theirs' })
  assert.equal(calls, 1)
})
