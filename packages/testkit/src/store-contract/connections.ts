// Connections, credentials, revocations, and everything removed with them.
import assert from 'node:assert/strict'
import type { Connection } from '@trunkline/core/domain/account'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { PageRequest, RewrapItem, Store } from '@trunkline/core/ports/store'
import { refreshCases } from './credential-refreshes.ts'
import { assertRows, type DefineCase, type StoreHarness } from './harness.ts'
import { loginCases } from './logins.ts'
import * as make from './records.ts'
import { renewalCases } from './renewals.ts'
import { assertPages, walk } from './walking.ts'

export function connectionCases(contractCase: DefineCase): void {
  creationCases(contractCase)
  listCases(contractCase)
  credentialCases(contractCase)
  refreshCases(contractCase)
  loginCases(contractCase)
  renewalCases(contractCase)
  removalCases(contractCase)
}

function creationCases(contractCase: DefineCase): void {
  contractCase('C10', 'many completions of one attempt make one connection, whole', async ({ store }) => {
    const { user } = await make.owner(store)
    const [attempt, token] = [make.attempt(user), make.hash()]
    await store.attempts.create(attempt, token, make.audit())
    const logins = Array.from({ length: 10 }, () => {
      const connection = make.connection(user)
      return { connection, accounts: [make.account(connection, 'X-1'), make.account(connection, 'X-2')], sealed: make.sealed() }
    })
    const made = await Promise.all(
      logins.map(({ connection, accounts, sealed }) =>
        store.connections.create(connection, accounts, sealed, attempt.attemptId, make.audit())
      )
    )
    assert.equal(made.filter(Boolean).length, 1)
    for (const [index, { connection, accounts, sealed }] of logins.entries()) {
      const won = made[index] === true
      assert.deepEqual(await store.connections.find(connection.connectionId), won ? connection : null)
      assert.deepEqual(await store.accounts.listByConnections([connection.connectionId]), won ? accounts : [])
      assert.deepEqual(await store.connections.credentials(connection.connectionId), won ? sealed : null)
    }
    assert.equal((await store.attempts.findByTokenHash(token))?.status, 'completed')
  })

  contractCase(
    'C18',
    'an account of a broker is found by any user’s connection that reaches it, one that waits to be claimed too',
    async ({ store }) => {
      const { user } = await make.owner(store)
      const [open, attempt] = [make.attempt(user), make.attempt(user)]
      for (const each of [open, attempt]) await store.attempts.create(each, make.hash(), make.audit())
      const [mine, waiting] = [make.connection(user), make.connection(user)]
      const accountOf = (connection: Connection) => make.account(connection, make.uuid())
      const [known, unclaimed] = [accountOf(mine), accountOf(waiting)]
      const reached = (...accounts: readonly { readonly brokerAccountId: string }[]) =>
        store.connections.reaches(
          mine.broker,
          accounts.map(({ brokerAccountId }) => brokerAccountId)
        )
      assert.deepEqual([await reached(known, unclaimed), await reached()], [false, false])
      await store.connections.create(mine, [known], make.sealed(), attempt.attemptId, make.audit())
      const claim = { codeHash: make.hash(), expiresAt: make.at(600_000) }
      await store.connections.create(waiting, [unclaimed], make.sealed(), open.attemptId, make.audit(), claim)
      assert.deepEqual([await reached(accountOf(mine), known), await reached(unclaimed)], [true, true])
      assert.equal(await store.connections.reaches(parseBrokerId('OTHER'), [known.brokerAccountId]), false)
      assert.equal(await reached(accountOf(mine)), false)
    }
  )

  contractCase('C19', 'who is disabled claims nothing; enabled again they may, while the code is good', async ({ store }) => {
    const { user } = await make.owner(store)
    const [attempt, waiting] = [make.attempt(user), make.connection(user)]
    await store.attempts.create(attempt, make.hash(), make.audit())
    const claim = { codeHash: make.hash(), expiresAt: make.at(600_000) }
    await store.connections.create(waiting, [], make.sealed(), attempt.attemptId, make.audit(), claim)
    const claimed = () =>
      store.connections.claim(waiting.connectionId, user.userKey, { codeHash: claim.codeHash, at: make.at(1), audit: make.audit() })
    await store.users.setDisabled(user.userKey, make.at(0), make.audit())
    assert.equal(await claimed(), 'unknown')
    assert.equal(await store.connections.find(waiting.connectionId), null)
    await store.users.setDisabled(user.userKey, null, make.audit())
    assert.equal(await claimed(), 'claimed')
  })

  contractCase('C20', 'no connection comes of an ended attempt or a removed user', async ({ store }) => {
    const { user } = await make.owner(store)
    const [declined, open] = [make.attempt(user), make.attempt(user)]
    for (const attempt of [declined, open]) await store.attempts.create(attempt, make.hash(), make.audit())
    await store.attempts.end(declined.attemptId, 'declined', make.audit())
    const connection = make.connection(user)
    assert.equal(await store.connections.create(connection, [], make.sealed(), declined.attemptId, make.audit()), false)
    await store.users.remove(user.userKey, make.at(1), make.audit())
    assert.equal(await store.connections.create(connection, [], make.sealed(), open.attemptId, make.audit()), false)
    assert.equal(await store.connections.find(connection.connectionId), null)
  })

  contractCase('C30', 'a connection breaks once', async ({ store }) => {
    const { connection } = await make.owner(store)
    const broken = await Promise.all(
      Array.from({ length: 10 }, () => store.connections.markBroken(connection.connectionId, 'refused\0 \ud800', make.at(5), make.audit()))
    )
    assert.equal(broken.filter(Boolean).length, 1)
    const found = await store.connections.find(connection.connectionId)
    assert.deepEqual(found, {
      ...connection,
      status: 'BROKEN',
      brokenCode: 'credentials_rejected',
      brokenReason: 'refused\u2400 \ufffd',
      updatedAt: make.at(5)
    })
    assert.equal(await store.connections.markBroken(make.uuid(), 'x', make.at(5), make.audit()), false)
  })
}

function listCases(contractCase: DefineCase): void {
  contractCase('C40', "a user's connections are listed by status, newest first", async ({ store }) => {
    const { user, connection } = await make.owner(store)
    const { connection: later } = await make.connected(store, user, 1, make.at(10))
    await store.connections.markBroken(later.connectionId, 'refused', make.at(11), make.audit())
    const ids = async (status: Connection['status'] | null) =>
      (await store.connections.listByUser(user.userKey, status)).map(({ connectionId }) => connectionId)
    assert.deepEqual(await ids(null), [later.connectionId, connection.connectionId])
    assert.deepEqual(await ids('ACTIVE'), [connection.connectionId])
    assert.deepEqual(await ids('BROKEN'), [later.connectionId])
  })

  contractCase('C50', "pages of a platform's connections neither skip nor repeat, ties included", async ({ store }) => {
    const { user, platform } = await make.owner(store)
    const all: Connection[] = [...(await store.connections.listByUser(user.userKey, null))]
    for (let index = 0; index < 12; index += 1) all.push((await make.connected(store, user, 1, make.at(Math.floor(index / 5)))).connection)
    const key = ({ createdAt, connectionId }: Connection): string => `${createdAt} ${connectionId}`
    const newest = all.toSorted((a, b) => (key(a) > key(b) ? -1 : 1))
    for (const descending of [true, false]) {
      const page = (request: PageRequest) => store.connections.listByPlatform(platform.platformId, null, request)
      assertPages(await walk(page, { limit: 3, descending }), descending ? newest : newest.toReversed())
    }
    const [first] = all
    assert.ok(first !== undefined)
    await store.connections.markBroken(first.connectionId, 'refused', make.at(1), make.audit())
    const broken = await store.connections.listByPlatform(platform.platformId, 'BROKEN', { limit: 5, edge: null, descending: true })
    assert.deepEqual(
      broken.rows.map(({ connectionId }) => connectionId),
      [first.connectionId]
    )
  })
}

function credentialCases(contractCase: DefineCase): void {
  contractCase('C60', 'credentials are written over the revision that was read, by one of many', async ({ store }) => {
    const { connection } = await make.owner(store)
    const values = Array.from({ length: 20 }, () => make.sealed(2))
    const written = await Promise.all(values.map(value => store.connections.replaceCredentials(connection.connectionId, 1, value)))
    assert.equal(written.filter(Boolean).length, 1)
    assert.deepEqual(await store.connections.credentials(connection.connectionId), values[written.indexOf(true)])
    assert.equal(await store.connections.replaceCredentials(connection.connectionId, 2, make.sealed(3)), true)
    assert.equal(await store.connections.replaceCredentials(make.uuid(), 1, make.sealed(2)), false)
  })

  contractCase('C70', 'a re-wrapping swaps only the bytes it read, and what it has done is not offered again', async ({ store }) => {
    const { connection, user } = await make.owner(store)
    const { connection: removed } = await make.connected(store, user)
    await store.connections.remove(removed.connectionId, make.at(1), make.audit())
    const before = (await offered(store, 'key-2')).filter(({ userKey }) => userKey === user.userKey)
    assert.deepEqual(before.map(({ place }) => place).sort(), ['connection', 'revocation'])
    const [live] = before.filter(({ place }) => place === 'connection')
    const [gone] = before.filter(({ place }) => place === 'revocation')
    assert.ok(live !== undefined && gone !== undefined)
    assert.deepEqual(live.credentials, await store.connections.credentials(connection.connectionId))

    const next = make.sealed(2)
    await store.connections.replaceCredentials(connection.connectionId, 1, next)
    assert.equal(await store.connections.rewrapped(live, make.sealed().sealed, 'key-2'), false)
    assert.deepEqual(await store.connections.credentials(connection.connectionId), next)

    const { sealed } = make.sealed(2)
    assert.equal(await store.connections.rewrapped({ ...live, credentials: next }, sealed, 'key-2'), true)
    assert.deepEqual(await store.connections.credentials(connection.connectionId), { sealed, revision: 2 })
    assert.equal(await store.connections.rewrapped(gone, sealed, 'key-2'), true)
    assert.deepEqual(
      (await offered(store, 'key-2')).filter(({ userKey }) => userKey === user.userKey),
      []
    )
    assert.equal((await offered(store, 'key-3')).filter(({ userKey }) => userKey === user.userKey).length, 2)

    // Written again under any key: checked again.
    await store.connections.replaceCredentials(connection.connectionId, 2, make.sealed(3))
    assert.equal((await offered(store, 'key-2')).filter(({ userKey }) => userKey === user.userKey).length, 1)
  })

  contractCase('C80', 'a revocation waits its time, counts its tries and ends with its secrets erased', async ({ store }) => {
    const { connection, user, accounts } = await make.owner(store, { accounts: 2 })
    const credentials = await store.connections.credentials(connection.connectionId)
    await store.connections.remove(connection.connectionId, make.at(1), make.audit())
    const due = async (ms: number) =>
      (await store.connections.dueRevocations(make.at(ms), 10_000)).find(({ connectionId }) => connectionId === connection.connectionId)
    assert.equal(await due(0.999), undefined)
    const { connectionId, broker } = connection
    const brokerAccountIds = accounts.map(account => account.brokerAccountId)
    const expected = { connectionId, userKey: user.userKey, broker, credentials, attempts: 0, removedAt: make.at(1), brokerAccountIds }
    assert.deepEqual(await due(1), expected)
    await store.connections.postponeRevocation(connectionId, make.at(60))
    assert.equal(await due(59), undefined)
    assert.deepEqual(await due(60), { ...expected, attempts: 1 })
    // Postponed by a clock that has been set back since.
    assert.deepEqual(await due(60 - 86_400_000), { ...expected, attempts: 1 })
    await store.connections.finishRevocation(connectionId)
    assert.equal(await due(1_000_000), undefined)
  })

  contractCase('C85', 'a revocation waits while its user is logging in at the same broker', async ({ store }) => {
    const { connection, user } = await make.owner(store)
    await store.connections.remove(connection.connectionId, make.at(1), make.audit())
    const isDue = async (ms: number) =>
      (await store.connections.dueRevocations(make.at(ms), 10_000)).some(({ connectionId }) => connectionId === connection.connectionId)
    const begun = async (broker: Connection['broker']) => {
      const attempt = make.attempt(user)
      await store.attempts.create(attempt, make.hash(), make.audit())
      await store.attempts.begin(attempt.attemptId, { broker, stateHash: make.hash(), verifier: make.sealed(), at: make.at(1) })
      return attempt
    }
    await begun(parseBrokerId('ELSEWHERE'))
    assert.equal(await isDue(2), true)
    const attempt = await begun(connection.broker)
    assert.equal(await isDue(2), false)
    await store.attempts.end(attempt.attemptId, 'declined', make.audit())
    assert.equal(await isDue(2), true)
    await begun(connection.broker)
    assert.deepEqual([await isDue(30 * 60_000 - 1), await isDue(30 * 60_000)], [false, true])
  })
}

function removalCases(contractCase: DefineCase): void {
  contractCase('C90', 'removing a connection takes everything under it and leaves the log, the audit and the others', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    const other = { ...who, ...(await make.connected(store, who.user)) }
    const doomed = await furnished(store, who)
    const remaining = await furnished(store, other)
    const entry = make.audit('connection.remove')
    assert.equal(await store.connections.remove(who.connection.connectionId, make.at(9), entry), true)
    assert.equal(await store.connections.remove(who.connection.connectionId, make.at(9), make.audit()), false)

    const { accountId } = who.account
    assert.equal(await store.connections.find(who.connection.connectionId), null)
    assert.equal(await store.connections.credentials(who.connection.connectionId), null)
    assert.deepEqual(await store.accounts.listByConnections([who.connection.connectionId]), [])
    assert.equal(await store.orders.find(doomed.order.orderId), null)
    assert.equal(await store.orders.findByBrokerIds(accountId, { brokerOrderId: 'broker-1', brokerClOrdId: null }), null)
    assert.deepEqual(await store.accounts.balances([accountId]), [])
    await assertRows(harness, 'select 1 from transactions where account_id = $1', [accountId])
    assert.equal(await store.tokens.find(doomed.token.tokenHash), null)
    await assertRows(harness, 'select 1 from fills where order_id = $1', [doomed.order.orderId])

    assert.deepEqual(await store.orders.find(remaining.order.orderId), remaining.order)
    assert.equal((await store.accounts.balances([other.account.accountId])).length, 1)
    assert.notEqual(await store.tokens.find(remaining.token.tokenHash), null)
    const events = await store.events.read(who.user.userKey, 0, 100)
    assert.deepEqual(
      events.map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6]
    )
    assert.ok((await store.audit.list(20)).some(({ target, action }) => target === entry.target && action === 'connection.remove'))
  })

  contractCase('C95', 'a removal is given the open orders that go with it, and what it throws keeps everything', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    const other = { ...who, ...(await make.connected(store, who.user)) }
    const [open, elsewhere] = [make.order(who), make.order(other)]
    const ended = { ...make.order(who), status: 'rejected' as const }
    for (const order of [open, elsewhere, ended]) await store.orders.record([make.created(order)])
    const { connectionId } = who.connection
    const refusing = () => {
      throw new Error('not yet')
    }
    await assert.rejects(store.connections.remove(connectionId, make.at(9), refusing), /not yet/)
    await assert.rejects(store.users.remove(who.user.userKey, make.at(9), refusing), /not yet/)
    assert.deepEqual(await store.orders.find(open.orderId), open)

    const given: (readonly Order[])[] = []
    const [entry, further] = [make.audit('connection.remove'), make.audit('order.abandoned')]
    const noting = (orders: readonly Order[]) => {
      given.push(orders)
      return [entry, further]
    }
    assert.equal(await store.connections.remove(connectionId, make.at(9), noting), true)
    await store.users.remove(who.user.userKey, make.at(9), noting)
    assert.deepEqual(given, [[open], [elsewhere]])
    const written = (await store.audit.list(20)).filter(({ target }) => target === entry.target || target === further.target)
    assert.deepEqual(written.map(({ action }) => action).toSorted(), [
      ...['connection.remove', 'connection.remove', 'order.abandoned', 'order.abandoned']
    ])
  })

  contractCase('C100', 'removing a user removes everything, and its name starts again', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    const neighbour = await make.owner(store, { platform: who.platform })
    const second = { ...who, ...(await make.connected(store, who.user)) }
    const [doomed, remaining] = [await furnished(store, who), await furnished(store, neighbour)]
    await furnished(store, second)
    const removed = await store.users.remove(who.user.userKey, make.at(9), make.audit('user.delete'))
    assert.deepEqual([...removed].sort(), [who.connection.connectionId, second.connection.connectionId].sort())

    assert.equal(await store.users.findByKey(who.user.userKey), null)
    assert.equal(await store.orders.find(doomed.order.orderId), null)
    assert.deepEqual(await store.events.read(who.user.userKey, 0, 10), [])
    const due = (await store.connections.dueRevocations(make.at(9), 10_000)).filter(({ userKey }) => userKey === who.user.userKey)
    assert.equal(due.length, 2)
    for (const table of ['orders', 'events', 'connections', 'accounts', 'user_counters', 'market_data_tokens', 'connection_attempts'])
      await assertRows(harness, `select 1 from ${table} where user_key = $1`, [who.user.userKey])
    await assertRows(harness, 'select 1 from erasures', [])
    assert.deepEqual(await store.users.remove(who.user.userKey, make.at(9), make.audit()), [])

    assert.deepEqual(await store.orders.find(remaining.order.orderId), remaining.order)
    const again = await make.owner(store, { platform: who.platform, userId: who.user.userId })
    const [result] = await store.orders.record([make.created(make.order(again))])
    assert.equal(result?.kind === 'recorded' && result.event?.seq, 1)
  })

  contractCase.sql('C110', 'removing a user with very many orders and events leaves none of them', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    await Promise.all(Array.from({ length: 2_300 }, () => store.orders.record([make.created(make.order(who))])))
    await store.users.remove(who.user.userKey, make.at(9), make.audit())
    await assertRows(harness, 'select 1 from orders where user_key = $1 limit 1', [who.user.userKey])
    await assertRows(harness, 'select 1 from events where user_key = $1 limit 1', [who.user.userKey])
  })
}

async function offered(store: Store, keyId: string): Promise<readonly RewrapItem[]> {
  return store.connections.sealedUnderOtherKeys(keyId, 10_000)
}

/** Gives an account records of every kind. */
async function furnished(store: StoreHarness['store'], who: make.Owner) {
  const made = make.order(who)
  const filled = make.moved(made, { status: 'filled', brokerOrderId: 'broker-1', fills: [make.fill('f1')] })
  await store.orders.record([make.created(made)])
  await store.orders.record([filled])
  await store.accounts.putBalances(who.account, [make.balance(who.account, '1.50')])
  await store.accounts.putTransactions(who.account, [make.transaction(who.account, 't1', '2026-11-20')], {
    from: make.day('2026-11-01'),
    to: make.day('2026-11-20'),
    at: make.at(1)
  })
  const token = make.token(who)
  await store.tokens.create(token, make.audit())
  return { order: filled.order, token }
}
