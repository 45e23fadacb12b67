// A server that ends a connection as soon as it has opened it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { createPostgresEngine } from '../../src/store/postgres.ts'
import { testDeps } from './deps.ts'

/** A message of the PostgreSQL protocol: its type, its length, its body. */
function message(type: string, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

const AUTHENTICATED = message('R', Buffer.alloc(4))
const READY = message('Z', 'I')
const ENDED = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')

test('a server that stops right behind its greeting leaves the process running, and the statement unavailable', async t => {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, ENDED])))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const engine = createPostgresEngine({ url: `postgres://ada@127.0.0.1:${address.port}/trunkline`, poolMax: 1, log: testDeps().log })
  // Twice: the place in the pool is free again.
  for (let time = 0; time < 2; time += 1) await assert.rejects(engine.run('select 1', []), { code: '57P01' })
})
