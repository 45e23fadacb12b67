/**
 * The floor of an order: a program that does only what no order can do without. It reads the request, makes the order durable, sends it to
 * the sandbox, makes the answer durable and answers. It reads the messages of the account streams and forgets them. It checks nothing and
 * promises nothing, so it could not be used.
 */

import Fastify from 'fastify'
import { Client } from 'pg'
import { Agent } from 'undici'
import { WebSocket } from 'ws'
import { KnownStatement, type Row } from '../../packages/server/src/store/known-statement.ts'

const { FLOOR_DATABASE_URL = '', FLOOR_SANDBOX_URL = '', FLOOR_TOKENS = '' } = process.env
const NAME = 'floor_insert'
const STORE = 'insert into bench_floor (document) select unnest($1::text[])'
/** As large as the stored record of an order, its event and its audit entry. */
const RECORD = 'r'.repeat(1_500)

const database = new Client({ connectionString: FLOOR_DATABASE_URL })
await database.connect()
await database.query('create table if not exists bench_floor (id bigint generated always as identity primary key, document text not null)')
await database.query({ name: NAME, text: STORE, values: [[RECORD]] })

/** Writes that came while another was being made share the next commit. */
let waiting: (() => void)[] = []
let isWriting = false

function durable(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    if (!isWriting) write()
  })
}

function write(): void {
  const taken = waiting
  waiting = []
  isWriting = true
  const values = [`{${taken.map(() => RECORD).join(',')}}`]
  database.query(
    new KnownStatement({ name: NAME, columns: [], answerMs: 10_000 }, values, (error: Error | null, _rows?: readonly Row[]) => {
      if (error !== null) throw error
      for (const done of taken) done()
      isWriting = false
      if (waiting.length > 0) write()
    })
  )
}

const tokens = new Map<string, string>(Object.entries(JSON.parse(FLOOR_TOKENS)))
for (const token of tokens.values()) {
  const stream = new WebSocket(`${FLOOR_SANDBOX_URL.replace('http', 'ws')}/stream/v1`, { perMessageDeflate: false })
  stream.on('open', () => stream.send(JSON.stringify({ op: 'login', token })))
  stream.on('message', data => JSON.parse(String(data)))
}

const agent = new Agent({ connections: 100, pipelining: 1 })
const app = Fastify({ logger: false })
app.post('/orders', async (request, reply) => {
  const { account_id: account, cl_order_id: id, symbol, order_qty: quantity } = Object(request.body)
  await durable()
  const { body } = await agent.request({
    origin: FLOOR_SANDBOX_URL,
    path: '/api/v1/orders',
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.get(account)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ account, symbol, direction: 'buy', kind: 'market', lifetime: 'day', quantity, client_order_id: id })
  })
  const { order } = Object(await body.json())
  await durable()
  return reply.code(201).send({ ...order, normalized_status: order.state === 'done' ? 'filled' : 'pending' })
})
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
process.stdout.write(`floor ${typeof address === 'object' && address !== null ? address.port : 0}\n`)
process.once('SIGTERM', () => process.exit(0))
