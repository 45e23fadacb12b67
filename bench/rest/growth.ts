import { Client as Database } from 'pg'
import type { ConnectedUser, Stage } from '../harness/stage.ts'
import { line, spreadOf } from '../harness/stats.ts'
import { ordersOneByOne } from './orders.ts'

const FIRST = 1_000
const BATCH = 50_000
const PAGES = 200
const FACTOR_MAX = 1.5

/** The cost of an order and of a page with a thousand orders stored, and with as many as specified, all of one user. */
export async function growth(stage: Stage, stored: number): Promise<readonly string[]> {
  if (stage.databaseUrl === null) return []
  const user = await stage.user()
  const database = new Database({ connectionString: stage.databaseUrl })
  await database.connect()
  try {
    await ordersOneByOne(stage, user, 'seed', FIRST)
    const few = { order: await orderMs(stage, user, 'few'), page: await pageMs(user, newest) }
    await multiply(database, user.accountId, stored)
    const many = { order: await orderMs(stage, user, 'many'), page: await pageMs(user, newest) }
    const oldest = await pageMs(user, request => `${newest(request)}&sort=entry_time:asc`)
    const centre = await middleOf(user)
    const deep = await pageMs(user, request => `/orders?limit=50&end_time=${new Date(centre + request).toISOString()}`)
    const compare = (what: string, before: number, after: number) =>
      line(
        what,
        `${before.toFixed(2)} → ${after.toFixed(2)} ms (× ${(after / before).toFixed(2)})`,
        `at most × ${FACTOR_MAX}`,
        after <= FACTOR_MAX * before
      )
    return [
      compare(`an order, median, at ${FIRST} → ${stored} stored`, few.order, many.order),
      compare('the newest page of 50, likewise', few.page, many.page),
      compare('the oldest page of 50 relative to the newest, at the end', many.page, oldest),
      compare('a page from the middle relative to the newest', many.page, deep)
    ]
  } finally {
    await database.end()
  }
}

async function orderMs(stage: Stage, user: ConnectedUser, name: string): Promise<number> {
  return spreadOf(await ordersOneByOne(stage, user, name, 300)).median
}

/** A page that each request reads with different parameters, so that none comes from a cache. */
function newest(request: number): string {
  return `/orders?limit=50&start_time=${new Date(Date.UTC(2000, 0, 1) + request).toISOString()}`
}

async function pageMs({ client }: ConnectedUser, pathOf: (request: number) => string): Promise<number> {
  const found: number[] = []
  for (let request = 0; request < PAGES; request += 1) {
    const path = pathOf(request)
    const started = performance.now()
    await client.list(path)
    found.push(performance.now() - started)
  }
  return spreadOf(found).median
}

/** The middle between the oldest and the newest order, in milliseconds since the epoch. */
async function middleOf({ client }: ConnectedUser): Promise<number> {
  const newestOrder = (await client.list('/orders?limit=1'))[0]
  const oldestOrder = (await client.list('/orders?limit=1&sort=entry_time:asc'))[0]
  const [from = 0, to = 0] = [oldestOrder, newestOrder].map(order => Date.parse(String(order?.entry_time)))
  return (from + to) / 2
}

/** Copies of a finished order, each a second further in the past, with new ids in every field. */
async function multiply(database: Database, accountId: string, stored: number): Promise<void> {
  for (let done = 0; done < stored; done += BATCH) {
    await database.query(
      `insert into orders
       select made.*
       from (select * from orders where account_id = $1 and final_status = 'filled' order by entry_time limit 1) o
       cross join lateral (select gen_random_uuid() as id, n from generate_series($2::int, $3::int) n) ids
       cross join lateral jsonb_populate_record(null::orders, to_jsonb(o) || jsonb_build_object(
         'order_id', ids.id, 'cl_ord_id', 'old-' || ids.n, 'broker_cl_ord_id', 'old-' || ids.n, 'broker_order_id', 'old-' || ids.n,
         'entry_time', o.entry_time - ids.n * interval '1 second', 'final_modified_time', o.entry_time - ids.n * interval '1 second',
         'document', replace(o.document, o.order_id::text, ids.id::text))) made`,
      [accountId, done + 1, Math.min(done + BATCH, stored)]
    )
  }
  await database.query('analyze orders')
}
