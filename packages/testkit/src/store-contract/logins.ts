// Logins that wait for their claim, and the endpoints of logins.
import assert from 'node:assert/strict'
import type { BrokerEndpoint, Connection } from '@trunkline/core/domain/account'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { Store } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function loginCases(contractCase: DefineCase): void {
  claimCases(contractCase)
  endpointCases(contractCase)
}

function claimCases(contractCase: DefineCase): void {
  contractCase(
    'C15',
    'a connection that waits to be claimed is nowhere, and becomes one once, by its own code, user and time',
    async ({ store }) => {
      const { user } = await make.owner(store)
      const other = await make.owner(store)
      const [attempt, connection, codeHash] = [make.attempt(user), make.connection(user), make.hash()]
      const [accounts, sealed] = [[make.account(connection, 'X-1')], make.sealed()]
      await store.attempts.create(attempt, make.hash(), make.audit())
      const pending = { codeHash, expiresAt: make.at(10) }
      assert.equal(await store.connections.create(connection, accounts, sealed, attempt.attemptId, make.audit(), pending), true)
      const { connectionId } = connection
      const known = async () => [
        await store.connections.find(connectionId),
        (await store.connections.listByUser(user.userKey, null)).length,
        await store.connections.credentials(connectionId),
        await store.accounts.listByConnections([connectionId])
      ]
      assert.deepEqual(await known(), [null, 1, null, []])
      const claim = (userKey: Connection['userKey'], hash: string, ms: number) =>
        store.connections.claim(connectionId, userKey, { codeHash: hash, at: make.at(ms), audit: make.audit() })
      assert.equal(await claim(other.user.userKey, codeHash, 1), 'unknown')
      assert.equal(await claim(user.userKey, make.hash(), 1), 'refused')
      assert.equal(await claim(user.userKey, codeHash, 10), 'refused')
      assert.deepEqual(await known(), [null, 1, null, []])
      const claims = await Promise.all(Array.from({ length: 5 }, () => claim(user.userKey, codeHash, 9)))
      assert.deepEqual(claims.toSorted(), ['claimed', ...Array.from({ length: 4 }, () => 'unknown')])
      assert.deepEqual(await known(), [connection, 2, sealed, accounts])
      assert.equal(await store.connections.expireClaims(make.at(1_000), 100), 0)
    }
  )

  contractCase(
    'C16',
    'a claim and an expiry at the same moment: it becomes a connection or is revoked, never both',
    async ({ store, beside }) => {
      const waiting = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { user } = await make.owner(store)
          const [attempt, connection, codeHash] = [make.attempt(user), make.connection(user), make.hash()]
          await store.attempts.create(attempt, make.hash(), make.audit())
          const pending = { codeHash, expiresAt: make.at(10) }
          await store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit(), pending)
          assert.deepEqual(await store.connections.findUnclaimed(connection.connectionId), connection)
          return { ...connection, codeHash }
        })
      )
      const [, ...claims] = await Promise.all([
        beside.connections.expireClaims(make.at(10), 100),
        ...waiting.map(({ connectionId, userKey, codeHash }) =>
          store.connections.claim(connectionId, userKey, { codeHash, at: make.at(9), audit: make.audit() })
        )
      ])
      const revoked = new Set((await store.connections.dueRevocations(make.at(10), 10_000)).map(({ connectionId }) => connectionId))
      for (const [index, { connectionId }] of waiting.entries()) {
        const isConnected = (await store.connections.find(connectionId)) !== null
        assert.deepEqual([isConnected, claims[index] === 'claimed'], Array(2).fill(!revoked.has(connectionId)))
        assert.equal(await store.connections.findUnclaimed(connectionId), null)
      }
    }
  )

  contractCase('C17', 'what was not claimed in time is revoked, and what waits for a user that is removed', async ({ store }) => {
    const { user } = await make.owner(store)
    const [late, left] = [make.connection(user), make.connection(user)]
    for (const [connection, ms] of [
      [late, 10],
      [left, 20]
    ] as const) {
      const attempt = make.attempt(user)
      await store.attempts.create(attempt, make.hash(), make.audit())
      const pending = { codeHash: make.hash(), expiresAt: make.at(ms) }
      await store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit(), pending)
    }
    const items = (await store.connections.sealedUnderOtherKeys('key-2', 10_000)).filter(
      ({ userKey, place }) => userKey === user.userKey && place === 'claim'
    )
    assert.equal(items.length, 2)
    assert.equal(await store.connections.expireClaims(make.at(9), 100), 0)
    assert.equal(await store.connections.expireClaims(make.at(10), 100), 1)
    const revoked = async () => (await store.connections.dueRevocations(make.at(30), 10_000)).map(({ connectionId }) => connectionId)
    assert.deepEqual([(await revoked()).includes(late.connectionId), (await revoked()).includes(left.connectionId)], [true, false])
    assert.ok((await store.audit.list(20)).some(({ action, target }) => action === 'connection.unclaimed' && target === late.connectionId))
    await store.users.remove(user.userKey, make.at(12), make.audit())
    assert.ok((await revoked()).includes(left.connectionId))
  })
}

function endpointCases(contractCase: DefineCase): void {
  contractCase(
    'C83',
    'connections of an endpoint are suspended and resumed together, and none that is BROKEN for another reason',
    async ({ store }) => {
      const { user } = await make.owner(store)
      const broker = parseBrokerId(`B${make.hash().slice(0, 8).toUpperCase()}`)
      const elsewhere: BrokerEndpoint = { environment: 'paper', host: 'paper.example' }
      const [first, second, refused, other] = await Promise.all([
        connectedAt(store, user, { broker }),
        connectedAt(store, user, { broker }),
        connectedAt(store, user, { broker }),
        connectedAt(store, user, { broker, endpoint: elsewhere })
      ])
      await store.connections.markBroken(refused.connectionId, 'refused', make.at(1), make.audit())
      const statusesOf = async () =>
        await Promise.all(
          [first, second, refused, other].map(async ({ connectionId }) => {
            const found = await store.connections.find(connectionId)
            return `${found?.status} ${found?.brokenCode}`
          })
        )
      assert.deepEqual(
        (await store.connections.endpoints(broker)).map(({ host }) => host).sort(),
        [make.ENDPOINT.host, elsewhere.host].sort()
      )
      const [suspended, resumed] = [make.audit('connection.suspend'), make.audit('connection.resume')]
      assert.equal(await store.connections.suspend(broker, make.ENDPOINT, 'moved', make.at(2), suspended), 2)
      assert.deepEqual(await statusesOf(), [
        ...Array.from({ length: 2 }, () => 'BROKEN environment_changed'),
        'BROKEN credentials_rejected',
        'ACTIVE null'
      ])
      assert.deepEqual(await store.connections.endpoints(broker), [elsewhere], 'no connection at the other one is ACTIVE')
      assert.equal(await store.connections.suspend(broker, make.ENDPOINT, 'moved', make.at(2), make.audit()), 0)
      assert.equal(await store.connections.resume(broker, elsewhere, make.at(3), make.audit()), 0)
      assert.equal(await store.connections.resume(broker, make.ENDPOINT, make.at(3), resumed), 2)
      assert.deepEqual(await statusesOf(), ['ACTIVE null', 'ACTIVE null', 'BROKEN credentials_rejected', 'ACTIVE null'])
      const entry = (await store.audit.list(20)).find(({ target }) => target === suspended.target)
      assert.equal(entry?.detail.connections, 2)
    }
  )

  contractCase('C89', 'logins without an endpoint are found, and get one with the bytes that were read', async ({ store }) => {
    const { user } = await make.owner(store)
    const broker = parseBrokerId(`B${make.hash().slice(0, 8).toUpperCase()}`)
    const logins = await Promise.all(Array.from({ length: 3 }, () => connectedAt(store, user, { broker, endpoint: null })))
    const gone = await connectedAt(store, user, { broker, endpoint: null })
    await store.connections.remove(gone.connectionId, make.at(1), make.audit())
    await connectedAt(store, user, { broker })
    const ids = logins.map(({ connectionId }) => connectionId).sort()
    const [first, ...rest] = await store.connections.withoutEndpoint('connection', broker, null, 2)
    assert.ok(first !== undefined)
    const next = await store.connections.withoutEndpoint('connection', broker, rest.at(-1)?.connectionId ?? null, 2)
    const found = [first, ...rest, ...next]
    assert.deepEqual(
      found.map(({ connectionId }) => connectionId),
      ids
    )
    const [revocation] = await store.connections.withoutEndpoint('revocation', broker, null, 2)
    assert.equal(revocation?.connectionId, gone.connectionId)

    const { sealed } = make.sealed(1)
    const [moved, unchanged, ...others] = found
    assert.ok(moved !== undefined && unchanged !== undefined && revocation !== undefined)
    await store.connections.replaceCredentials(moved.connectionId, 1, make.sealed(2))
    const items = [moved, unchanged, revocation].map(item => ({ item, sealed }))
    await store.connections.recordEndpoint([...items, ...others.map(item => ({ item, sealed: null }))], make.ENDPOINT, make.audit())
    assert.deepEqual(await store.connections.credentials(unchanged.connectionId), { sealed, revision: 1 })
    assert.deepEqual((await store.connections.find(unchanged.connectionId))?.endpoint, make.ENDPOINT)
    const left = await store.connections.withoutEndpoint('connection', broker, null, 10)
    assert.deepEqual(
      left.map(({ connectionId }) => connectionId),
      [moved.connectionId]
    )
    assert.deepEqual(await store.connections.withoutEndpoint('revocation', broker, null, 10), [])
  })
}

/** A stored connection with defaults, except for what is given. */
async function connectedAt(store: Store, user: make.Owner['user'], more: Partial<Connection>): Promise<Connection> {
  const [attempt, connection] = [make.attempt(user), { ...make.connection(user), ...more }]
  await store.attempts.create(attempt, make.hash(), make.audit())
  await store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit())
  return connection
}
