// A page of the log: never more than some megabytes, and honest about what is gone although it goes while it is read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PlatformCaller } from '@trunkline/core/app/caller'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, type PostgresServer, sharedPostgres, type TestDatabase } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { pageBytes } from '../../src/http/routes/platform.ts'
import { openStore } from '../../src/store/index.ts'
import { updateBytes } from '../../src/wire/update.ts'
import { testDeps } from '../store/deps.ts'

const MEGABYTE = 1024 * 1024
const EVER = make.time('9999-01-01T00:00:00Z')

let cluster: PostgresServer
let database: TestDatabase
let store: Store
before(async () => {
  cluster = await sharedPostgres()
  database = await createDatabase(cluster.url)
  store = await openStore({ kind: 'postgres', url: database.url, poolMax: 4 }, testDeps())
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database.drop()
  await cluster.stop()
})

async function record(who: make.Owner, messages: readonly string[]): Promise<void> {
  for (const brokerMessage of messages) await store.orders.record([make.created(make.order(who, { status: 'rejected', brokerMessage }))])
}

async function pageOf(from: Store, { platform, user }: make.Owner, after = 0, limit = 1_000) {
  const caller: PlatformCaller = { platform, ip: null, requestId: null }
  const bytes = await pageBytes({ store: from }, caller, { userId: user.userId, after, limit })
  return { bytes, ...JSON.parse(Buffer.from(bytes).toString()) }
}

/** The store, with something done just before events are read. */
function disturbed(work: () => Promise<unknown>): Store {
  const events = new Proxy(store.events, {
    get: (real, name) => {
      if (name !== 'read') return Reflect.get(real, name).bind(real)
      return async (...given: Parameters<typeof real.read>) => {
        await work()
        return real.read(...given)
      }
    }
  })
  return { ...store, events }
}

const seqs = ({ data }: { readonly data: readonly { readonly seq: number }[] }) => data.map(({ seq }) => seq)

test('a page ends after some megabytes, and the pages together make up the log', async () => {
  const who = await make.owner(store)
  const sizes = [3, 3, 3, 9, 1, 1]
  await record(
    who,
    sizes.map(size => 'x'.repeat((size * MEGABYTE) / 2))
  )
  const pages = [await pageOf(store, who)]
  for (let next = pages[0]?.next_after; next !== null; next = pages.at(-1)?.next_after) pages.push(await pageOf(store, who, next))
  assert.deepEqual(pages.map(seqs), [[1, 2, 3], [4], [5, 6]])
  for (const { bytes, data } of pages) assert.ok(bytes.byteLength < 6 * MEGABYTE || data.length === 1)
})

test('a page of many small updates consists of their exact bytes, read in several steps', async () => {
  const who = await make.owner(store)
  await record(
    who,
    Array.from({ length: 230 }, (_, index) => `“${index}”`)
  )
  const logged = await store.events.read(who.user.userKey, 3, 220)
  const expected = logged.map(event => Buffer.from(updateBytes(event, who.user.userId)).toString()).join(',')
  const { bytes } = await pageOf(store, who, 3, 220)
  assert.equal(Buffer.from(bytes).toString(), `{"data":[${expected}],"next_after":223,"oldest_seq":1,"last_seq":230}`)
})

test('a gap that appears while a page is read shows in the range that the page reports', async () => {
  const who = await make.owner(store)
  await record(who, ['a', 'b', 'c', 'd'])
  const third = (await store.events.read(who.user.userKey, 2, 1))[0]?.at ?? assert.fail('no third event')
  const pruneTo = (at: typeof third) => async () => {
    while ((await store.events.prune(at, 1_000)) > 0);
  }
  const page = await pageOf(disturbed(pruneTo(third)), who)
  assert.deepEqual([seqs(page), page.next_after, page.oldest_seq, page.last_seq], [[3, 4], null, 3, 4])
  const gone = await pageOf(disturbed(pruneTo(EVER)), who)
  assert.deepEqual([gone.data, gone.next_after, gone.oldest_seq, gone.last_seq], [[], null, 5, 4])
  const later = await pageOf(store, who)
  assert.deepEqual([later.data, later.next_after, later.oldest_seq, later.last_seq], [[], null, 5, 4])
})

test('an update written while a page is read is in that page or after it', async () => {
  const who = await make.owner(store)
  await record(who, ['a', 'b'])
  const page = await pageOf(
    disturbed(() => record(who, ['c'])),
    who
  )
  assert.deepEqual([seqs(page), page.next_after, page.last_seq], [[1, 2, 3], null, 3])
  const short = await pageOf(
    disturbed(() => record(who, ['d'])),
    who,
    0,
    3
  )
  assert.deepEqual([seqs(short), short.next_after], [[1, 2, 3], null])
  assert.deepEqual(seqs(await pageOf(store, who, 3)), [4])
})

test('another platform’s user is not found', async () => {
  const [who, other] = [await make.owner(store), await make.owner(store)]
  const isUnknown = (error: unknown) => error instanceof ServiceError && error.code === 'user_not_found'
  await assert.rejects(pageOf(store, { ...who, platform: other.platform }), isUnknown)
})
