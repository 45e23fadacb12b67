// The view `fills`, which operators sum executions with: it reads the documents of orders, whatever brokers wrote into them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { Client } from 'pg'
import { openStore } from '../../src/store/index.ts'
import { testDeps } from './deps.ts'

test('the view has each execution of an order and of its legs once, without those that were inferred', async () => {
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  await using store = await openStore({ kind: 'postgres', url: database.url, poolMax: 2 }, testDeps())
  const who = await make.owner(store)
  const leg = { symbol: 'AAPL261218C00200000', side: 'BUY', ratio: make.decimal('1') } as const
  const order = make.order(who, {
    ...{ symbol: null, instrument: 'MLEG_OPT', status: 'filled' },
    fills: [make.fill('e-1', '1.50'), make.fill('e-2', '2.00', { inferred: true })],
    legs: [
      { ...leg, fills: [] },
      { ...leg, symbol: 'AAPL261218C00210000', side: 'SELL', fills: [make.fill('l-1')] }
    ],
    // What the database refuses in JSON.
    brokerMessage: 'a\u0000b \ud800 \\u0000'
  })
  await store.orders.record([make.created(order), make.created(make.order(who))])
  const client = new Client(database.url)
  await client.connect()
  const { rows } = await client.query<{ leg: number; fill_id: string; quantity: string; price: string; exec_dest: string }>(
    'select leg::int, fill_id, quantity, price, exec_dest from fills order by leg, fill_id'
  )
  await client.end()
  assert.deepEqual(rows, [
    { leg: 0, fill_id: 'e-1', quantity: '1.50', price: '10.10', exec_dest: 'XNAS' },
    { leg: 2, fill_id: 'l-1', quantity: '1.00', price: '10.10', exec_dest: 'XNAS' }
  ])
})
