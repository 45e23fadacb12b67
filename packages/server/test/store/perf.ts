// Figures of the store, taken by hand: `node packages/server/test/store/perf.ts [postgres|embedded] [stored orders]`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Order } from '@trunkline/core/domain/order'
import type { OrderFilter, OrderSort, PageRequest } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { RandomIds } from '../../src/ops/ids.ts'
import { openStore, type SqlStore, type StoreSettings } from '../../src/store/index.ts'
import { CpuMeter } from './cpu.ts'
import { testDeps } from './deps.ts'

const [kind = 'postgres', stored = '0'] = process.argv.slice(2)

type Work = (store: SqlStore, cpu: CpuMeter) => Promise<void>

async function withStore(work: Work): Promise<void> {
  if (kind === 'embedded') {
    const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-perf-'))
    await run({ kind: 'embedded', dataDir }, null, work)
    await rm(dataDir, { recursive: true })
    return
  }
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  await run({ kind: 'postgres', url: database.url, poolMax: 8 }, database.url, work)
}

async function run(settings: StoreSettings, url: string | null, work: Work): Promise<void> {
  await using store = await openStore(settings, { ...testDeps(), ids: new RandomIds() })
  await using cpu = await CpuMeter.open(url)
  await work(store, cpu)
}

/** Runs `work`, which makes `changes` changes, and writes what each of them cost. */
async function timed(title: string, store: SqlStore, cpu: CpuMeter, changes: number, work: () => Promise<unknown>): Promise<void> {
  const before = { cpu: await cpu.read(), orders: store.stats().orders, ms: performance.now() }
  await work()
  const ms = performance.now() - before.ms
  const after = { cpu: await cpu.read(), orders: store.stats().orders }
  const each = (name: 'node' | 'database') => ((after.cpu[name] - before.cpu[name]) / changes).toFixed(0)
  const batches = after.orders.batches - before.orders.batches
  const size = (after.orders.changes - before.orders.changes) / Math.max(1, batches)
  console.log(
    `${title}: ${((changes / ms) * 1000).toFixed(0)} changes/s; CPU a change: ${each('node')} µs in Node, ${each('database')} µs in PostgreSQL; ${size.toFixed(0)} to a batch`
  )
}

/** What one account reports on a busy day: an order's four changes, and after each fill the account's balance and positions. */
async function trade(store: SqlStore, who: make.Owner, rounds: number): Promise<void> {
  const accountRecords = async (round: number, half: number) => {
    await store.accounts.putBalances(who.account, [make.balance(who.account, `${round}.0${half}`)])
    const held = ['SPY', 'QQQ', 'AAPL'].map((symbol, index) =>
      make.position(who.account, symbol, `${index === 0 ? round + half / 2 : index}`)
    )
    await store.accounts.putPositions(who.account, held, make.at(round))
  }
  for (let round = 1; round <= rounds; round += 1) {
    const made = make.order(who, { entryTime: make.at(round) })
    await store.orders.record([make.created(made, { audit: make.audit('order.place') })])
    const working = make.moved(made, { status: 'working', brokerOrderId: `b-${made.orderId}`, lastModifiedTime: make.at(1) })
    await store.orders.record([working])
    const partial = make.moved(working.order, { status: 'partially_filled', fills: [make.fill('1')], lastExecTime: make.at(2) })
    await Promise.all([store.orders.record([partial]), accountRecords(round, 1)])
    const filled = make.moved(partial.order, { status: 'filled', fills: [make.fill('1'), make.fill('2')], lastExecTime: make.at(3) })
    await Promise.all([store.orders.record([filled]), accountRecords(round, 2)])
  }
}

/** The life of an order as a broker reports it: four changes. */
async function live(store: SqlStore, made: Order): Promise<void> {
  await store.orders.record([make.created(made, { audit: make.audit('order.place') })])
  const working = make.moved(made, { status: 'working', brokerOrderId: `b-${made.orderId}`, lastModifiedTime: make.at(1) })
  await store.orders.record([working])
  const partial = make.moved(working.order, { status: 'partially_filled', fills: [make.fill('1')], lastExecTime: make.at(2) })
  await store.orders.record([partial])
  await store.orders.record([
    make.moved(partial.order, { status: 'filled', fills: [make.fill('1'), make.fill('2')], lastExecTime: make.at(3) })
  ])
}

async function lives(store: SqlStore, owners: readonly make.Owner[], count: number, callers: number): Promise<void> {
  let next = 0
  const caller = async () => {
    for (let mine = next++; mine < count; mine = next++) {
      const who = owners[mine % owners.length]
      if (who !== undefined) await live(store, make.order(who, { entryTime: make.at(mine) }))
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

async function latency(store: SqlStore, who: make.Owner): Promise<string> {
  const times: number[] = []
  for (let count = 0; count < 500; count += 1) {
    const began = performance.now()
    await store.orders.record([make.created(make.order(who))])
    times.push(performance.now() - began)
  }
  return percentiles(times)
}

function percentiles(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2)
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`
}

/** Fills one account with final orders, one in a hundred of them rejected, and a few open ones. */
async function fillUp(store: SqlStore, who: make.Owner, total: number): Promise<void> {
  const began = performance.now()
  let next = 0
  const caller = async () => {
    for (let mine = next++; mine < total; mine = next++) {
      const status = mine % 1_000 === 0 ? 'working' : mine % 100 === 0 ? 'rejected' : 'filled'
      const [entryTime, later] = [make.at(mine), make.at(mine + 2)]
      const symbol = mine % 5_000 === 1 ? 'RARE' : 'SPY'
      await store.orders.record([
        make.created(make.order(who, { entryTime, lastModifiedTime: later, lastExecTime: later, status, symbol, fills: [make.fill('1')] }))
      ])
    }
  }
  await Promise.all(Array.from({ length: 250 }, caller))
  console.log(`${total} orders of one account stored: ${((total / (performance.now() - began)) * 1000).toFixed(0)} a second`)
}

async function pages(store: SqlStore, who: make.Owner, title: string, more: Partial<OrderFilter>, sort: OrderSort): Promise<void> {
  const filter = { accountIds: who.accounts.map(({ accountId }) => accountId), ...more }
  const oldest = await store.orders.list(filter, sort, { limit: 51, edge: null, descending: false })
  const first: PageRequest = { limit: 50, edge: null, descending: true }
  const end: PageRequest = oldest.next === null ? first : { ...first, edge: { side: 'after', key: oldest.next } }
  const times: Record<'first' | 'end', number[]> = { first: [], end: [] }
  for (let count = 0; count < 400; count += 1) {
    for (const [name, page] of [['first', first] as const, ['end', end] as const]) {
      const began = performance.now()
      await store.orders.list(filter, sort, page)
      if (count >= 50) times[name].push(performance.now() - began)
    }
  }
  console.log(`list ${title} by ${sort}: first ${percentiles(times.first)}; end ${percentiles(times.end)}`)
}

await withStore(async (store, cpu) => {
  const owners = await Promise.all(Array.from({ length: 200 }, () => make.owner(store)))
  const [who] = owners
  if (who === undefined) throw new Error('no owner')
  const measure = async () => {
    for (const callers of [1, 32, 200]) {
      const count = callers === 1 ? 300 : 5_000
      await timed(`${callers} callers`, store, cpu, count * 4, () => lives(store, owners, count, callers))
    }
    for (const accounts of [20, 200]) {
      const rounds = 4_000 / accounts
      const work = () => Promise.all(owners.slice(0, accounts).map(owner => trade(store, owner, rounds)))
      await timed(`${accounts} accounts with their records`, store, cpu, accounts * rounds * 8, work)
    }
    console.log(`one change alone: ${await latency(store, who)}`)
  }
  await lives(store, owners, 500, 50)
  await measure()
  const total = Number(stored)
  if (total > 0) {
    const big = await make.owner(store)
    await fillUp(store, big, total)
    for (const sort of ['entryTime', 'lastModifiedTime', 'lastExecTime'] as const) {
      await pages(store, big, 'all', {}, sort)
      await pages(store, big, 'rejected', { statuses: ['rejected'] }, sort)
      await pages(store, big, 'open', { statuses: ['pending', 'working', 'partially_filled'] }, sort)
    }
    await pages(store, big, 'one common symbol', { symbols: ['SPY'] }, 'entryTime')
    for (const sort of ['entryTime', 'lastModifiedTime'] as const) await pages(store, big, 'one rare symbol', { symbols: ['RARE'] }, sort)
    await measure()
  }
  console.log(store.stats().orders)
})
