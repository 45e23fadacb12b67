// Renewals of a connection's login: completely, once, and over the credentials that were read.
import assert from 'node:assert/strict'
import type { Renewal } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function renewalCases(contractCase: DefineCase): void {
  contractCase('C92', 'many renewals of one login: one is written, whole, and the connection keeps its ids', async ({ store }) => {
    const { user, connection, accounts } = await make.owner(store)
    const { connectionId, userKey } = connection
    const [attempt, token] = [{ ...make.attempt(user), renewConnectionId: connectionId }, make.hash()]
    await store.attempts.create(attempt, token, make.audit())
    assert.deepEqual(await store.attempts.findByTokenHash(token), attempt)
    await store.connections.markBroken(connectionId, 'refused', make.at(1), make.audit())
    const held = { revision: 1, holder: 'a node', at: make.at(1), until: make.at(30_000) }
    await store.connections.claimRefresh(connectionId, held)
    const renewals: readonly Renewal[] = Array.from({ length: 5 }, () => ({
      ...{ connectionId, userKey, endpoint: make.ENDPOINT, revision: 1, credentials: make.sealed(2), at: make.at(2) },
      ...{ added: [make.account(connection, 'NEW')], attemptId: attempt.attemptId, audit: make.audit('connection.renew') }
    }))
    const outcomes = await Promise.all(renewals.map(renewal => store.connections.renew(renewal)))
    assert.deepEqual(outcomes.toSorted(), ['moved', 'moved', 'moved', 'moved', 'renewed'])
    const won = renewals[outcomes.indexOf('renewed')] ?? assert.fail()
    assert.deepEqual(await store.connections.credentials(connectionId), won.credentials)
    assert.deepEqual(await store.connections.find(connectionId), { ...connection, updatedAt: make.at(2) })
    assert.deepEqual(await store.accounts.listByConnections([connectionId]), [...accounts, ...won.added])
    assert.equal((await store.attempts.findByTokenHash(token))?.status, 'completed')
    assert.ok((await store.audit.list(20)).some(({ target }) => target === won.audit.target))
    // A concurrent refresh loses.
    assert.equal(await store.connections.replaceCredentials(connectionId, 1, make.sealed(2)), false)
    assert.deepEqual(await store.connections.claimRefresh(connectionId, held), { kind: 'moved' })
  })

  contractCase(
    'C94',
    'no renewal over other credentials, after the attempt, at another endpoint, of another user or of nothing',
    async ({ store }) => {
      const { user, connection, accounts } = await make.owner(store)
      const other = await make.owner(store)
      const { connectionId, userKey } = connection
      const [attempt, token] = [make.attempt(user), make.hash()]
      const over = make.attempt(user)
      for (const [made, secret] of [
        [attempt, token],
        [over, make.hash()]
      ] as const)
        await store.attempts.create(made, secret, make.audit())
      await store.attempts.end(over.attemptId, 'declined', make.audit())
      await store.connections.markBroken(connectionId, 'refused', make.at(1), make.audit())
      const before = [await store.connections.find(connectionId), await store.connections.credentials(connectionId), accounts]
      const good: Renewal = {
        ...{ connectionId, userKey, endpoint: make.ENDPOINT, revision: 1, credentials: make.sealed(2), at: make.at(2) },
        ...{ added: [make.account(connection, 'NEW')], attemptId: attempt.attemptId, audit: make.audit() }
      }
      const renew = (change: Partial<Renewal>) => store.connections.renew({ ...good, ...change })
      assert.equal(await renew({ revision: 2, credentials: make.sealed(3) }), 'moved')
      assert.equal(await renew({ attemptId: over.attemptId }), 'ended')
      assert.equal(await renew({ endpoint: { ...make.ENDPOINT, environment: 'live' } }), 'gone')
      assert.equal(await renew({ endpoint: { ...make.ENDPOINT, host: 'elsewhere.example' } }), 'gone')
      assert.equal(await renew({ userKey: other.user.userKey }), 'gone')
      assert.equal(await renew({ connectionId: make.uuid() }), 'gone')
      const after = [
        await store.connections.find(connectionId),
        await store.connections.credentials(connectionId),
        await store.accounts.listByConnections([connectionId])
      ]
      assert.deepEqual(after, before)
      assert.equal((await store.attempts.findByTokenHash(token))?.status, 'open')
      assert.equal(await renew({}), 'renewed')
    }
  )
}
