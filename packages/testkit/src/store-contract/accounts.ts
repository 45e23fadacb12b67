// Accounts, and the balances, positions and transactions that brokers report.
import assert from 'node:assert/strict'
import type { Balance, Transaction } from '@trunkline/core/domain/account'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { TransactionFilter } from '@trunkline/core/ports/transaction-filter'
import { assertRows, type DefineCase } from './harness.ts'
import * as make from './records.ts'

const SPAN = { from: make.day('2026-01-01'), to: make.day('2026-12-31'), at: make.at(0) }

export function accountCases(contractCase: DefineCase): void {
  readingCases(contractCase)
  eventCases(contractCase)
  transactionCases(contractCase)
}

function readingCases(contractCase: DefineCase): void {
  contractCase('A10', 'accounts come back as they were, in the order of their connections and of the broker', async ({ store }) => {
    const { user, accounts, connection } = await make.owner(store, { accounts: 3 })
    const later = await make.connected(store, user, 2, make.at(5))
    assert.deepEqual(await store.accounts.listByUser(user.userKey), [...accounts, ...later.accounts])
    assert.deepEqual(await store.accounts.listByConnections([connection.connectionId]), accounts)
    assert.deepEqual(await store.accounts.listByConnections([]), [])
  })

  contractCase('A20', 'amounts, instants and texts come back character for character', async ({ store }) => {
    const { account } = await make.owner(store)
    const digits = '12345678901234567890123456789012345.678'
    const balances = [make.balance(account, '1.50'), make.balance(account, digits, 'EUR', make.time('2026-03-08T06:59:59.000001Z'))]
    const positions = [make.position(account, 'BRK.B', '-0.000000001'), make.position(account, 'BTC/USD', '1.10', make.at(0.001))]
    await store.accounts.putBalances(account, balances)
    await store.accounts.putPositions(account, positions, make.at(0))
    assert.deepEqual(await store.accounts.balances([account.accountId]), balances)
    assert.deepEqual(await store.accounts.positions([account.accountId]), positions)
  })

  contractCase('A30', 'freshness has the last confirmation of each kind, an earlier time too', async ({ store }) => {
    const { account } = await make.owner(store)
    const nothing = { balances: null, positions: null, orders: null, transactions: null }
    assert.deepEqual(await store.accounts.freshness(account.accountId), nothing)
    await store.accounts.putBalances(account, [
      make.balance(account, '1', 'USD', make.at(1)),
      make.balance(account, '1', 'EUR', make.at(3))
    ])
    await store.accounts.putPositions(account, [], make.at(2))
    await store.orders.confirmed(account, make.at(9))
    await store.orders.confirmed(account, make.at(8))
    await store.accounts.putTransactions(account, [], SPAN)
    assert.deepEqual(await store.accounts.freshness(account.accountId), {
      balances: make.at(3),
      positions: make.at(2),
      orders: make.at(8),
      transactions: SPAN
    })
    await store.orders.confirmed({ accountId: make.uuid(), userKey: make.uuid() }, make.at(9))
  })

  contractCase('A40', 'records of several accounts come in the requested order', async ({ store }) => {
    const { accounts } = await make.owner(store, { accounts: 2 })
    const [one, two] = accounts
    assert.ok(one !== undefined && two !== undefined)
    for (const account of accounts) await store.accounts.putBalances(account, [make.balance(account, '1')])
    const owners = (await store.accounts.balances([two.accountId, one.accountId])).map(({ accountId }) => accountId)
    assert.deepEqual(owners, [two.accountId, one.accountId])
    assert.deepEqual(await store.accounts.balances([]), [])
  })
}

function eventCases(contractCase: DefineCase): void {
  contractCase('A50', 'balances are published one by one, and only those that differ in more than their time', async ({ store }) => {
    const { account, user } = await make.owner(store)
    const [usd, eur] = [make.balance(account, '1.50'), make.balance(account, '2.00', 'EUR')]
    const first = await store.accounts.putBalances(account, [usd, eur])
    assert.deepEqual(dataOf(first), [
      [1, usd],
      [2, eur]
    ])
    const later = { ...usd, systemTime: make.at(10) }
    assert.deepEqual(await store.accounts.putBalances(account, [later, eur]), [])
    assert.deepEqual(await store.accounts.balances([account.accountId]), [later, eur])
    // Another notation of the same amount is the broker's newest report.
    const rewritten = make.balance(account, '1.5', 'USD', make.at(11))
    const second = await store.accounts.putBalances(account, [rewritten])
    assert.deepEqual(dataOf(second), [[3, rewritten]])
    assert.deepEqual(await store.accounts.balances([account.accountId]), [rewritten])
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), [...first, ...second])
  })

  contractCase('A60', 'positions are published together, those that went with quantity 0', async ({ store }) => {
    const { account, user } = await make.owner(store)
    const [spy, qqq] = [make.position(account, 'SPY', '10'), make.position(account, 'QQQ', '-5')]
    const first = await store.accounts.putPositions(account, [spy, qqq], make.at(0))
    assert.deepEqual(dataOf(first), [[1, [spy, qqq]]])
    const later = { ...spy, systemTime: make.at(4) }
    const more = make.position(account, 'IWM', '1', make.at(4))
    const second = await store.accounts.putPositions(account, [later, more], make.at(4))
    const unknown = { averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null }
    assert.deepEqual(dataOf(second), [[2, [more, { ...qqq, ...unknown, quantity: '0', systemTime: make.at(4) }]]])
    assert.deepEqual(await store.accounts.putPositions(account, [later, more], make.at(5)), [])
    assert.deepEqual(await store.accounts.positions([account.accountId]), [later, more])
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), [...first, ...second])
  })

  contractCase('A62', 'positions that lack a stored one can be declined: then nothing is stored', async ({ store, beside }) => {
    const { account, user } = await make.owner(store)
    const [spy, qqq] = [make.position(account, 'SPY', '10'), make.position(account, 'QQQ', '-5')]
    const first = await store.accounts.putPositionsUnlessGone(account, [spy, qqq], make.at(0))
    assert.deepEqual(first === null ? null : dataOf(first), [[1, [spy, qqq]]])
    assert.equal(await store.accounts.putPositionsUnlessGone(account, [spy], make.at(1)), null)
    assert.deepEqual(await store.accounts.positions([account.accountId]), [spy, qqq])
    assert.equal((await store.accounts.freshness(account.accountId)).positions, make.at(0))
    const more = make.position(account, 'IWM', '1', make.at(2))
    const second = await store.accounts.putPositionsUnlessGone(account, [spy, qqq, more], make.at(2))
    assert.deepEqual(second === null ? null : dataOf(second), [[2, [more]]])
    // What another node has stored since counts, although this one knows its own list only.
    const third = await beside.accounts.putPositions(account, [spy], make.at(3))
    assert.equal(third.length, 1)
    const fourth = await beside.accounts.putPositions(account, [spy, more, make.position(account, 'DIA', '3')], make.at(4))
    assert.equal(await store.accounts.putPositionsUnlessGone(account, [spy, qqq, more], make.at(5)), null)
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), [...(first ?? []), ...(second ?? []), ...third, ...fourth])
  })

  contractCase('A65', 'records of a list that is not whole are stored, and what was confirmed as a whole stays that', async ({ store }) => {
    const { account } = await make.owner(store)
    const [spy, qqq] = [make.position(account, 'SPY', '10', make.at(0)), make.position(account, 'QQQ', '-5', make.at(0))]
    const [usd, eur] = [make.balance(account, '1', 'USD', make.at(1)), make.balance(account, '2', 'EUR', make.at(1))]
    await store.accounts.putPositions(account, [spy, qqq], make.at(0))
    await store.accounts.putBalances(account, [usd, eur])
    const [later, more] = [{ ...spy, systemTime: make.at(4) }, make.balance(account, '3', 'USD', make.at(5))]
    assert.deepEqual(await store.accounts.putPositions(account, [later, qqq], make.at(4), make.at(0)), [])
    assert.deepEqual(dataOf(await store.accounts.putBalances(account, [more, eur], make.at(1))), [[4, more]])
    assert.deepEqual(await store.accounts.positions([account.accountId]), [later, qqq])
    assert.deepEqual(await store.accounts.balances([account.accountId]), [more, eur])
    const { positions, balances } = await store.accounts.freshness(account.accountId)
    assert.deepEqual([positions, balances], [make.at(0), make.at(1)])
  })

  contractCase('A70', 'concurrent writers each publish the difference to what they replaced', async ({ store }) => {
    const { account, user } = await make.owner(store)
    const snapshots = Array.from({ length: 8 }, (_, index) => [make.balance(account, `${index}.00`)])
    const events = (await Promise.all(snapshots.map(snapshot => store.accounts.putBalances(account, snapshot)))).flat()
    const logged = await store.events.read(user.userKey, 0, 100)
    assert.deepEqual(
      events.toSorted((a, b) => a.seq - b.seq),
      logged
    )
    assert.deepEqual(
      logged.map(({ seq }) => seq),
      snapshots.map((_, index) => index + 1)
    )
    const [newest] = await store.accounts.balances([account.accountId])
    assert.deepEqual(newest, logged.at(-1)?.data)
  })

  contractCase(
    'A72',
    'a node that wrote before another one did publishes the difference to what the other wrote',
    async ({ store, beside }) => {
      const { account, user } = await make.owner(store)
      const [spy, qqq] = [make.position(account, 'SPY', '1'), make.position(account, 'QQQ', '2')]
      const steps = [
        [store, '1.00', [spy]],
        [beside, '2.00', [spy, qqq]],
        [store, '2.00', [spy, qqq]],
        [store, '1.00', [spy]],
        [beside, '1.00', []]
      ] as const
      const counts: (readonly [number, number])[] = []
      for (const [index, [node, cash, positions]] of steps.entries()) {
        const balances = await node.accounts.putBalances(account, [make.balance(account, cash, 'USD', make.at(index))])
        const moved = await node.accounts.putPositions(account, positions, make.at(index))
        counts.push([balances.length, moved.flatMap(event => (event.topic === 'positions' ? event.data : [])).length])
      }
      assert.deepEqual(counts, [
        [1, 1],
        [1, 1],
        [0, 0],
        [1, 1],
        [0, 1]
      ])
      const events = await beside.events.read(user.userKey, 0, 100)
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6, 7]
      )
      assert.deepEqual(await store.accounts.positions([account.accountId]), [])
    }
  )

  contractCase('A74', 'what is wrong with one account never hurts another that is written at the same time', async ({ store }) => {
    const owners = await Promise.all(Array.from({ length: 12 }, () => make.owner(store)))
    const gone = await make.owner(store)
    await store.connections.remove(gone.connection.connectionId, make.at(1), make.audit())
    const bad = await make.owner(store)
    const broken = { ...make.balance(bad.account, '1'), systemTime: 'not a time' as Timestamp }
    const writes = owners.map(({ account }) => store.accounts.putBalances(account, [make.balance(account, '1')]))
    const failing = assert.rejects(store.accounts.putBalances(bad.account, [broken]), /instant|date|time/)
    const vanished = store.accounts.putBalances(gone.account, [make.balance(gone.account, '1')])
    const seqs = (await Promise.all(writes)).map(events => events.map(({ seq }) => seq))
    assert.deepEqual(
      seqs,
      owners.map(() => [1])
    )
    await failing
    assert.deepEqual(await vanished, [])
    assert.deepEqual(await store.accounts.balances([bad.account.accountId]), [])
    assert.equal((await store.accounts.putBalances(bad.account, [make.balance(bad.account, '1')])).length, 1)
  })

  contractCase('A76', 'very large and very odd records come back as they were', async ({ store }) => {
    const { account, user } = await make.owner(store)
    const held = Array.from({ length: 3_000 }, (_, index) => make.position(account, `S${index} "\u2028\u001e\ud800,\u0000`, `${index}`))
    const [event] = await store.accounts.putPositions(account, held, make.time('0000-01-01T00:00:00Z'))
    assert.deepEqual(event?.data, held)
    assert.deepEqual(await store.accounts.positions([account.accountId]), held)
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), [event])
  })

  contractCase('A80', 'nothing is written for an account that was removed', async harness => {
    const { store } = harness
    const { account, connection, user } = await make.owner(store)
    await store.connections.remove(connection.connectionId, make.at(1), make.audit())
    assert.deepEqual(await store.accounts.putBalances(account, [make.balance(account, '1')]), [])
    assert.deepEqual(await store.accounts.putPositions(account, [make.position(account, 'SPY', '1')], make.at(0)), [])
    await store.accounts.putTransactions(account, [make.transaction(account, 't1', '2026-11-20')], SPAN)
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), [])
    await assertRows(harness, 'select 1 from transactions where account_id = $1', [account.accountId])
  })
}

function transactionCases(contractCase: DefineCase): void {
  contractCase('A90', 'a transaction read again is refreshed and keeps its id; days are inclusive, newest first', async ({ store }) => {
    const { account } = await make.owner(store)
    const [one, two, three] = ['2026-11-18', '2026-11-19', '2026-11-20'].map((day, index) => make.transaction(account, `t${index}\0`, day))
    assert.ok(one !== undefined && two !== undefined && three !== undefined)
    await store.accounts.putTransactions(account, [one, two, three], SPAN)
    const again = { ...two, transactionId: make.uuid<typeof two.transactionId>(), amount: make.decimal('-150.01'), systemTime: make.at(7) }
    await store.accounts.putTransactions(account, [again, again], { ...SPAN, at: make.at(7) })
    const refreshed = { ...again, transactionId: two.transactionId }
    const read = async (from: string, to: string) => (await store.accounts.transactions([account.accountId], ofDays(from, to), PAGE)).rows
    assert.deepEqual(await read('2026-11-01', '2026-11-30'), [three, refreshed, one])
    assert.deepEqual(await read('2026-11-19', '2026-11-19'), [refreshed])
    assert.deepEqual(await read('2026-11-19', '2026-11-30'), [three, refreshed])
    assert.deepEqual(await read('2026-11-01', '2026-11-17'), [])
    assert.equal((await store.accounts.freshness(account.accountId)).transactions?.at, make.at(7))
  })

  contractCase('A100', 'the same broker id in two accounts is two transactions', async ({ store }) => {
    const { accounts } = await make.owner(store, { accounts: 2 })
    for (const account of accounts) await store.accounts.putTransactions(account, [make.transaction(account, 'same', '2026-11-20')], SPAN)
    const ids = accounts.map(({ accountId }) => accountId)
    assert.equal((await store.accounts.transactions(ids, ofDays('2026-11-20', '2026-11-20'), PAGE)).rows.length, 2)
  })

  contractCase(
    'A110',
    'pages of transactions, by type too, neither skip nor repeat one, whatever is added meanwhile',
    async ({ store }) => {
      const { account } = await make.owner(store)
      const put = (name: string, day: string, type: Transaction['type'] = 'BUY') =>
        store.accounts.putTransactions(account, [{ ...make.transaction(account, name, day), type }], SPAN)
      for (const [index, day] of ['2026-11-17', '2026-11-18', '2026-11-18', '2026-11-18', '2026-11-20'].entries())
        await put(`t${index}`, day)
      await put('fee', '2026-11-18', 'FEE')
      const page = (filter: TransactionFilter, edge: readonly string[] | null) =>
        store.accounts.transactions([account.accountId], filter, {
          limit: 2,
          descending: true,
          edge: edge === null ? null : { side: 'after', key: edge }
        })
      const walked = async (filter: TransactionFilter) => {
        const names: string[] = []
        for (let edge: readonly string[] | null = null; ; ) {
          const { rows, next } = await page(filter, edge)
          names.push(...rows.map(({ brokerTransactionId }) => brokerTransactionId))
          if (next === null) return names
          await put(`later ${names.length}`, '2026-11-21', 'OTHER')
          edge = next
        }
      }
      const month = ofDays('2026-11-01', '2026-11-30')
      const all = await walked(month)
      assert.deepEqual([all[0], all.at(-1), all.toSorted()], ['t4', 't0', ['fee', 't0', 't1', 't2', 't3', 't4']])
      assert.deepEqual(await walked({ ...month, types: ['FEE'] }), ['fee'])
      assert.deepEqual((await walked({ ...month, types: ['BUY'] })).length, 5)
    }
  )

  contractCase('A120', 'when records of a kind were last confirmed, of many accounts at once', async ({ store }) => {
    const { accounts } = await make.owner(store, { accounts: 3 })
    const [one, two, never] = accounts
    assert.ok(one !== undefined && two !== undefined && never !== undefined)
    await store.accounts.putPositions(one, [], make.at(3))
    await store.accounts.putPositions(two, [], make.at(4))
    await store.orders.confirmed(never, make.at(5))
    const confirmed = await store.accounts.confirmed(
      accounts.map(({ accountId }) => accountId),
      'positions'
    )
    assert.deepEqual(
      [...confirmed].toSorted(),
      [
        [one.accountId, make.at(3)],
        [two.accountId, make.at(4)]
      ].toSorted()
    )
  })
}

const PAGE = { limit: 100, edge: null, descending: true } as const

function ofDays(from: string, to: string): TransactionFilter {
  return { from: make.day(from), to: make.day(to), types: null }
}

function dataOf(events: readonly LoggedEvent[]): readonly (readonly [number, LoggedEvent['data'] | Balance])[] {
  return events.map(({ seq, data }) => [seq, data])
}
