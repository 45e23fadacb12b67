// Lists: four ways of naming the next page, behind one shape.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACCOUNT, answer, order, type Script, script } from './scripted.ts'

const page = (ids: readonly string[], next: string | null, previous: string | null = null) =>
  answer({ data: ids.map(id => order({ order_id: id })), next_cursor: next, prev_cursor: previous })

function queries({ sent }: Script): readonly string[] {
  return sent.map(({ url }) => url.search)
}

test('a cursor in the answer leads to the next page', async () => {
  const run = script([page(['a', 'b'], 'n1'), page(['c'], null)])
  const found: string[] = []
  for await (const { order_id } of run.user.orders.list({ status: 'open', limit: 2 })) found.push(order_id)
  assert.deepEqual(found, ['a', 'b', 'c'])
  assert.deepEqual(queries(run), ['?status=open&limit=2', '?status=open&limit=2&next_cursor=n1'])
})

test('a list can be read backward', async () => {
  const run = script([page(['b'], 'n', 'p1'), page(['a'], 'n', null)])
  const all = await run.user.orders.list({ prev_cursor: 'p2' }).toArray({ limit: 9 })
  assert.deepEqual(
    all.map(({ order_id }) => order_id),
    ['b', 'a']
  )
  assert.deepEqual(queries(run), ['?prev_cursor=p2', '?prev_cursor=p1'])
})

test('no page is read that nobody asks for', async () => {
  const run = script([page(['a', 'b'], 'n1')])
  assert.equal((await run.user.orders.list().toArray({ limit: 2 })).length, 2)
  assert.deepEqual(await script([]).user.orders.list().toArray({ limit: 0 }), [])
})

test('pages come with what the answers say besides', async () => {
  const run = script([page(['a'], 'n1'), page(['b'], null)])
  const sizes: number[] = []
  for await (const { data, meta, answer: whole } of run.user.orders.list().pages()) sizes.push(data.length, meta.status, whole.data.length)
  assert.deepEqual(sizes, [1, 200, 1, 1, 200, 1])
})

test('a `link` header leads to the next page of transactions', async () => {
  const link = '<https://trunkline.example/v1/transactions?limit=1&cursor=a%2Bb>; rel="next"'
  const run = script([answer([{ transaction_id: '1' }], 200, { link }), answer([{ transaction_id: '2' }])])
  assert.equal((await run.user.transactions.list({ limit: 1 }).toArray({ limit: 9 })).length, 2)
  assert.deepEqual(queries(run), ['?limit=1', '?limit=1&cursor=a%2Bb'])
})

test('`next_start` leads to the next bars', async () => {
  const bars = (start: string, next: string | null) =>
    answer({ symbol: 'SPY', interval: '1h', bars: [{ start }], next_start: next, as_of: start })
  const run = script([bars('1', '2'), bars('2', null)])
  const given = { connection_id: ACCOUNT, symbol: 'SPY', interval: '1h', start: '1', end: '3' }
  assert.deepEqual(
    (await run.user.marketData.bars(given).toArray({ limit: 9 })).map(({ start }) => start),
    ['1', '2']
  )
  assert.deepEqual(
    run.sent.map(({ url }) => url.searchParams.get('start')),
    ['1', '2']
  )
})

test('`next_after` leads through the log, and a gap at its beginning is an error', async () => {
  const events = (seqs: readonly number[], next: number | null, oldest = 1) =>
    answer({ data: seqs.map(seq => ({ seq })), next_after: next, oldest_seq: oldest, last_seq: 9 })
  const run = script([events([4, 5], 5), events([6], null)])
  assert.deepEqual(
    (await run.trunkline.events({ user_id: 'ada', after: 3 }).toArray({ limit: 9 })).map(({ seq }) => seq),
    [4, 5, 6]
  )
  assert.deepEqual(
    run.sent.map(({ url }) => url.searchParams.get('after')),
    ['3', '5']
  )
  const cut = script([events([8], null, 8)])
  await assert.rejects(cut.trunkline.events({ user_id: 'ada', after: 3 }).toArray({ limit: 9 }), { code: 'events_missing' })
  const whole = script([events([8], null, 8)])
  assert.equal((await whole.trunkline.events({ user_id: 'ada' }).toArray({ limit: 9 })).length, 1)
})

test('a log that is cut while it is read misses only what was not read yet', async () => {
  const events = (seq: number, next: number | null, oldest: number) =>
    answer({ data: [{ seq }], next_after: next, oldest_seq: oldest, last_seq: 99 })
  // What is cut was read before.
  const read = script([events(5, 5, 1), events(6, null, 6)])
  assert.equal((await read.trunkline.events({ user_id: 'ada', after: 3 }).toArray({ limit: 9 })).length, 2)
  // What is cut was not.
  const cut = script([events(5, 5, 1), events(50, null, 50)])
  await assert.rejects(cut.trunkline.events({ user_id: 'ada' }).toArray({ limit: 9 }), { code: 'events_missing' })
})

test('a link that cannot be decoded is sent as it is', async () => {
  const run = script([answer([{ transaction_id: '1' }], 200, { link: '<https://a.example/x?cursor=%E0%A4>; rel="next"' }), answer([])])
  await run.user.transactions.list().toArray({ limit: 9 })
  assert.equal(run.sent.length, 2)
})

test('a list that stands still ends with an error', async () => {
  const run = script([page(['a'], 'n1'), page(['a'], 'n1')])
  await assert.rejects(run.user.orders.list().toArray({ limit: 9 }), { code: 'answer_unreadable' })
})

test('a list that leads back to a page before ends with an error', async () => {
  for (const circle of [2, 3, 7]) {
    const run = script(Array.from({ length: 40 }, (_, index) => page(['a'], `n${index < 4 ? -index : index % circle}`)))
    await assert.rejects(run.user.orders.list().toArray({ limit: 99 }), { code: 'answer_unreadable' })
  }
})

test('an answer without a list is none', async () => {
  for (const data of [null, 'text', [null]]) {
    const run = script([answer({ data, next_cursor: null })], { retries: 0 })
    await assert.rejects(run.user.orders.list().toArray({ limit: 9 }), { code: 'answer_unreadable' })
  }
})
