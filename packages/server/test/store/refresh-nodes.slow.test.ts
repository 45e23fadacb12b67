// Two processes on one PostgreSQL have one login between them: its refresh token is spent once, whichever comes first or dies.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openCredentials, sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { openStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'
import { testDeps } from './deps.ts'

const NODE = fileURLToPath(new URL('./refresh-node.ts', import.meta.url))

/** A broker that takes a refresh token once and never again. */
class Rotating implements AsyncDisposable {
  readonly spent = new Set<string>()
  readonly received: string[] = []
  refusals = 0
  /** Keeps answers from being sent. */
  held: ServerResponse[] | null = null
  readonly #server = createServer(async (request, response) => {
    let token = ''
    for await (const chunk of request) token += String(chunk)
    this.received.push(String(request.headers['x-may-be-spent']))
    if (this.held !== null) {
      this.held.push(response)
      return
    }
    if (this.spent.has(token)) {
      this.refusals += 1
      response.writeHead(400).end()
      return
    }
    this.spent.add(token)
    // Long enough for the other node to come in between, if anything let it.
    setTimeout(() => response.end(`${token}+`), 20)
  })

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    assert.ok(typeof address === 'object' && address !== null)
    return `http://127.0.0.1:${address.port}/`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

interface Reply {
  readonly token?: string
  readonly fault?: string
}

function renewed(node: ChildProcess): Promise<Reply> {
  const reply = Promise.withResolvers<Reply>()
  node.once('message', message => reply.resolve(typeof message === 'object' ? message : {}))
  node.send('renew')
  return reply.promise
}

test('two processes spend no refresh token twice, and one that dies at work only delays the other', { timeout: 120_000 }, async () => {
  const cluster = await sharedPostgres()
  const database = await createDatabase(cluster.url)
  await using broker = new Rotating()
  const tokenUrl = await broker.start()
  const keys = `k1:${randomBytes(32).toString('base64')}`
  const vault = new EnvelopeVault(new FixedKeyRing(parseKeySet(keys)))
  const nodes: ChildProcess[] = []
  try {
    await using store = await openStore({ kind: 'postgres', url: database.url, poolMax: 2 }, testDeps())
    const { connection } = await make.owner(store)
    const { connectionId, userKey } = connection
    await store.connections.replaceCredentials(
      connectionId,
      1,
      sealCredentials(vault, connection, { credentials: { token: 't' }, endpoint: make.ENDPOINT }, 2)
    )
    const start = async () => {
      const node = fork(NODE, [database.url, keys, connectionId, userKey, tokenUrl, '10'])
      nodes.push(node)
      await once(node, 'message')
      return node
    }
    const [a, b] = await Promise.all([start(), start()])

    const rounds = 25
    for (let round = 1; round <= rounds; round += 1) {
      const replies = await Promise.all([renewed(a), renewed(b)])
      for (const { token, fault } of replies) assert.ok(token !== undefined, `round ${round}: ${fault}`)
      const value = await store.connections.credentials(connectionId)
      assert.ok(value !== null)
      // A process that had read before the other wrote renews once more or takes what is there: never the same token twice.
      const { token } = openCredentials(vault, connection, value, make.ENDPOINT)
      assert.ok(replies.some(reply => reply.token === token))
      assert.equal(broker.spent.size, token?.length === undefined ? -1 : token.length - 1)
    }
    assert.equal(broker.refusals, 0)
    assert.ok(broker.spent.size <= 2 * rounds)
    assert.ok(broker.received.every(flag => flag === 'false'))

    const held: ServerResponse[] = []
    broker.held = held
    void renewed(a)
    await until(() => held.length > 0, 'the broker was asked')
    const before = broker.spent.size
    a.kill('SIGKILL')
    broker.held = null
    const { token, fault } = await renewed(b)
    assert.ok(token !== undefined, fault ?? 'no token')
    assert.equal(broker.spent.size, before + 1)
    assert.equal(broker.received.at(-1), 'true')
  } finally {
    for (const node of nodes) node.kill('SIGKILL')
    await database.drop()
    await cluster.stop()
  }
})
