// The log: numbered without gaps per user, complete after its subjects are removed, and pruned only from its old end.
import assert from 'node:assert/strict'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { ChangeResult, LoggedEvent, OrderChange, Store } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function eventCases(contractCase: DefineCase): void {
  numberCases(contractCase)
  readingCases(contractCase)
  pruningCases(contractCase)
}

function numberCases(contractCase: DefineCase): void {
  contractCase(
    'E10',
    "every user's numbers are without gap or repeat, whatever is written at once by two nodes, and follow each order's revisions",
    async ({ store, beside }) => {
      const owners = await Promise.all(Array.from({ length: 4 }, () => make.owner(store)))
      const published = new Map<string, LoggedEvent[]>(owners.map(({ user }) => [user.userKey, []]))
      await Promise.all(
        owners.flatMap(who => {
          const publish = (events: readonly LoggedEvent[]) => published.get(who.user.userKey)?.push(...events)
          const node = (index: number) => (index % 2 === 0 ? store : beside)
          const orders = Array.from({ length: 15 }, (_, index) => lived(node(index), who, publish))
          const records = Array.from({ length: 5 }, async (_, index) => {
            publish(await node(index).accounts.putBalances(who.account, [make.balance(who.account, `${index}.01`)]))
            publish(await node(index).accounts.putPositions(who.account, [make.position(who.account, 'SPY', `${index}`)], make.at(index)))
          })
          return [...orders, ...records]
        })
      )
      for (const { user } of owners) {
        const events = await store.events.read(user.userKey, 0, 1_000)
        assert.deepEqual(seqsOf(events), upTo(events.length))
        const all = (published.get(user.userKey) ?? []).toSorted((a, b) => a.seq - b.seq)
        assert.deepEqual(all, events)
        const newest = new Map<string, number>()
        for (const event of events) {
          if (event.topic !== 'orders') continue
          assert.ok(event.data.revision > (newest.get(event.data.orderId) ?? 0), 'events of an order are in the order of its revisions')
          newest.set(event.data.orderId, event.data.revision)
        }
        assert.equal(newest.size, 15)
        assert.deepEqual(await beside.events.span(user.userKey), { oldest: 1, last: events.length })
      }
    }
  )

  contractCase('E20', 'the newest number moves with every published change, in the same commit, and with no other', async ({ store }) => {
    const who = await make.owner(store)
    const last = () => store.events.last(who.user.userKey)
    assert.equal(await last(), 0)
    const order = make.order(who)
    await one(store, make.created(order))
    assert.equal(await last(), 1)
    await one(store, make.created(make.order(who), { publish: false }))
    assert.equal(await last(), 1)
    await one(store, make.moved(order, { status: 'working' }))
    assert.equal(await last(), 2)
    assert.equal(await store.events.last(make.uuid()), 0)
  })
}

function readingCases(contractCase: DefineCase): void {
  contractCase('E30', 'events are read from any number on, in order, as many as requested', async ({ store }) => {
    const who = await make.owner(store)
    await recordOrders(store, who, 5)
    const seqs = async (after: number, limit: number) => seqsOf(await store.events.read(who.user.userKey, after, limit))
    assert.deepEqual(await seqs(0, 2), [1, 2])
    assert.deepEqual(await seqs(2, 10), [3, 4, 5])
    assert.deepEqual(await seqs(5, 10), [])
    assert.deepEqual(await store.events.read(make.uuid(), 0, 10), [])
  })

  contractCase('E35', 'a read ends once its documents have as many bytes as requested, and has one event at least', async ({ store }) => {
    const who = await make.owner(store)
    for (let count = 0; count < 3; count++) await store.orders.record([make.created(make.order(who))])
    const counts = [1, 1_000_000].map(async bytesMax => (await store.events.read(who.user.userKey, 0, 10, bytesMax)).length)
    assert.deepEqual(await Promise.all(counts), [1, 3])
  })

  contractCase('E40', 'the span of a log is given before its first event and for a user that never existed', async ({ store }) => {
    const { user } = await make.owner(store)
    for (const userKey of [user.userKey, make.uuid<typeof user.userKey>()])
      assert.deepEqual(await store.events.span(userKey), { oldest: 1, last: 0 })
  })

  contractCase(
    'E50',
    'a read of large events ends early and never with nothing, so that reading on gives all of them',
    async ({ store }) => {
      const who = await make.owner(store)
      const sizes = [1, 1, 1, 1, 6, 1]
      for (const megabytes of sizes)
        await one(store, make.created(make.order(who, { status: 'rejected', brokerMessage: '€'.repeat((megabytes * 1024 * 1024) / 3) })))
      const pages: (readonly number[])[] = []
      for (let after = 0; after < sizes.length; after = pages.at(-1)?.at(-1) ?? sizes.length)
        pages.push(seqsOf(await store.events.read(who.user.userKey, after, 100)))
      assert.deepEqual(pages.flat(), upTo(sizes.length))
      assert.ok(pages.length >= 3, `more than one page of ${sizes.length} large events, had ${pages.length}`)
    }
  )

  contractCase('E60', 'events of a connection that was removed meanwhile read as they were published', async ({ store }) => {
    const who = await make.owner(store)
    const { account, connection, user } = who
    const [recorded] = await store.orders.record([make.created(make.order(who))])
    const published = [
      ...(recorded?.kind === 'recorded' && recorded.event !== null ? [recorded.event] : []),
      ...(await store.accounts.putBalances(account, [make.balance(account, '1.50'), make.balance(account, '2', 'EUR')])),
      ...(await store.accounts.putPositions(account, [make.position(account, 'SPY', '1')], make.at(0)))
    ]
    assert.equal(published.length, 4)
    await store.connections.remove(connection.connectionId, make.at(1), make.audit())
    assert.deepEqual(await store.events.read(user.userKey, 0, 10), published)
    for (const event of published) {
      const { connectionId, accountNumber } = event.topic === 'orders' ? event.data : event
      assert.deepEqual({ connectionId, accountNumber }, { connectionId: connection.connectionId, accountNumber: account.accountNumber })
    }
  })
}

function pruningCases(contractCase: DefineCase): void {
  contractCase('E70', 'pruning erases what is older than requested, a few events at a time, and never leaves a gap', async ({ store }) => {
    await pruneAll(store)
    const owners = await Promise.all(Array.from({ length: 3 }, () => make.owner(store)))
    const times: Timestamp[] = []
    for (let round = 0; round < 7; round += 1) {
      for (const who of owners) times.push(...(await recordOrders(store, who, 1)))
    }
    const cutoff = times[10] ?? assert.fail('no eleventh event')
    const steps: number[] = []
    do {
      steps.push(await store.events.prune(cutoff, 4))
      for (const { user } of owners) {
        const { oldest, last } = await store.events.span(user.userKey)
        assert.equal(last, 7)
        assert.deepEqual(
          seqsOf(await store.events.read(user.userKey, 0, 100)),
          upTo(last).filter(seq => seq >= oldest)
        )
      }
    } while (steps.at(-1) !== 0)
    assert.deepEqual(steps, [4, 4, 2, 0])
    const oldest = await Promise.all(owners.map(async ({ user }) => (await store.events.span(user.userKey)).oldest))
    assert.deepEqual(oldest, [5, 4, 4])
  })

  contractCase('E80', 'numbers go on after everything was pruned, and what comes then is pruned in its turn', async ({ store }) => {
    const who = await make.owner(store)
    const { userKey } = who.user
    for (const count of [3, 2]) {
      const before = await store.events.last(userKey)
      await recordOrders(store, who, count)
      await pruneAll(store)
      assert.deepEqual(await store.events.span(userKey), { oldest: before + count + 1, last: before + count })
      assert.deepEqual(await store.events.read(userKey, 0, 10), [])
    }
    const [balance] = await store.accounts.putBalances(who.account, [make.balance(who.account, '1')])
    assert.equal(balance?.seq, 6)
    assert.deepEqual(await store.events.span(userKey), { oldest: 6, last: 6 })
    await pruneAll(store)
    assert.deepEqual(await store.events.span(userKey), { oldest: 7, last: 6 })
  })

  contractCase('E90', 'writing and pruning at the same time lose no number and no event that is kept', async ({ store, beside }) => {
    await pruneAll(store)
    const who = await make.owner(store)
    let writing = true
    const pruner = (async () => {
      while (writing) await beside.events.prune(make.time('9999-01-01T00:00:00Z'), 3)
    })()
    await Promise.all(Array.from({ length: 10 }, () => recordOrders(store, who, 5)))
    writing = false
    await pruner
    const { oldest, last } = await store.events.span(who.user.userKey)
    assert.equal(last, 50)
    assert.deepEqual(
      seqsOf(await store.events.read(who.user.userKey, 0, 100)),
      upTo(last).filter(seq => seq >= oldest)
    )
  })
}

/** Erases every event. */
async function pruneAll(store: Store): Promise<void> {
  while ((await store.events.prune(make.time('9999-01-01T00:00:00Z'), 1_000)) > 0);
}

/** Records new orders one after the other. Returns when each was logged. */
async function recordOrders(store: Store, who: make.Owner, count: number): Promise<readonly Timestamp[]> {
  const times: Timestamp[] = []
  for (let made = 0; made < count; made += 1) {
    const result = await one(store, make.created(make.order(who)))
    assert.ok(result.kind === 'recorded' && result.event !== null)
    times.push(result.event.at)
  }
  return times
}

async function one(store: Store, change: OrderChange): Promise<ChangeResult> {
  const [result] = await store.orders.record([change])
  assert.ok(result !== undefined)
  return result
}

async function lived(store: Store, who: make.Owner, publish: (events: readonly LoggedEvent[]) => void): Promise<void> {
  let change: OrderChange = make.created(make.order(who))
  for (const status of ['working', 'partially_filled', 'filled', null] as const) {
    const result = await one(store, change)
    assert.ok(result.kind === 'recorded' && result.event !== null)
    publish([result.event])
    if (status !== null) change = make.moved(change.order, { status })
  }
}

function seqsOf(events: readonly LoggedEvent[]): readonly number[] {
  return events.map(({ seq }) => seq)
}

function upTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}
