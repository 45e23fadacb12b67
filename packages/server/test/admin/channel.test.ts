// The socket for administrators: private, bounded, and there for exactly as long as its service.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { AdminChannel } from '../../src/admin/channel.ts'
import { AdminClient, AdminFailed } from '../../src/admin/client.ts'
import { Admin } from '../../src/admin/index.ts'
import { AdminRefused } from '../../src/admin/operations.ts'
import { adminOver, clock, directory, embedded, hasher, ids, keysIn, quiet, run, webhooksWith } from './support.ts'

/** An administration whose store says nothing, or hangs. */
function idle(more: object = {}): Admin {
  const missing = () => assert.fail('not asked for')
  const store = { platforms: { list: async () => [], disabled: async () => new Map(), ...more }, connections: {}, audit: {} }
  return new Admin({
    store: Object(store),
    clock,
    ids,
    hasher,
    log: quiet,
    bus: null,
    settling: null,
    keys: missing,
    webhooks: webhooksWith(missing),
    demoFile: null,
    publicUrl: null
  })
}

async function channelIn(context: TestContext, dataDir: string, admin = idle()) {
  const warnings: string[] = []
  const log = {
    ...quiet,
    warn: (message: string, fields?: { cause?: unknown }) => void warnings.push(`${message} ${String(fields?.cause)}`)
  }
  const channel = new AdminChannel(admin, { dataDir, log })
  context.after(() => channel.stop())
  await channel.start()
  return { channel, warnings }
}

async function clientOf(dataDir: string): Promise<AdminClient> {
  const client = await AdminClient.connect(dataDir)
  assert.ok(client !== null)
  return client
}

test('the service performs an operation and returns its output', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  await channelIn(context, dataDir, adminOver(store, keysIn(dataDir)))
  const client = await clientOf(dataDir)
  const made = await client.perform('platform.create', { name: 'App', redirects: ['https://app.example.com/x'], claims: false }, run())
  assert.match(made.clientSecret, /^sk_[\w-]{43}$/)
  const [listed] = await client.perform('platform.list', {}, run())
  assert.deepEqual({ ...listed, clientSecret: made.clientSecret }, made)
  const [entry] = await client.perform('audit.list', { limit: 1 }, run())
  assert.deepEqual([entry?.actor, entry?.action, entry?.detail.by], ['operator', 'platform.create', 'tester@here'])
  const progress: number[] = []
  await client.perform('keys.rotate', { mode: 'add', retire: 'no' }, run({ progress: ({ rewrapped }) => progress.push(rewrapped) }))
  const { entries, broken, head } = await client.perform('audit.verify', { kept: null }, run())
  assert.equal(broken, null)
  assert.equal(head.position, entries)
  await assert.rejects(client.perform('platform.rotate_secret', { platform: 'pk_unknown', overlapSeconds: 0 }, run()), AdminRefused)
})

test('the socket is private to its user, and is removed with the service', async context => {
  const dataDir = directory(context)
  const { channel } = await channelIn(context, dataDir)
  assert.equal(statSync(join(dataDir, 'admin.sock')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(dataDir), ['admin.sock'])
  await channel.stop()
  assert.deepEqual(readdirSync(dataDir), [])
  assert.equal(await AdminClient.connect(dataDir), null)
})

test('the socket of a dead service is replaced; a running service keeps its own', async context => {
  const dataDir = directory(context)
  await leftBehind(join(dataDir, 'admin.sock'))
  assert.equal(await AdminClient.connect(dataDir), null)
  const { warnings } = await channelIn(context, dataDir)
  assert.deepEqual(warnings, [])
  const second = await channelIn(context, dataDir)
  assert.match(second.warnings.join(), /another service already serves administrators of this data directory/)
  await second.channel.stop()
  assert.deepEqual(await (await clientOf(dataDir)).perform('platform.list', {}, run()), [])
})

test('a file, folder or link in its place is left alone, and the service still starts', async context => {
  for (const put of [
    (path: string) => writeFileSync(path, 'mine'),
    (path: string) => mkdirSync(path),
    (path: string) => symlinkSync('elsewhere', path)
  ]) {
    const dataDir = directory(context)
    put(join(dataDir, 'admin.sock'))
    const { channel, warnings } = await channelIn(context, dataDir)
    assert.match(warnings.join(), /is not a socket/)
    await channel.stop()
    assert.deepEqual(readdirSync(dataDir), ['admin.sock'])
    assert.equal(await AdminClient.connect(dataDir), null)
  }
})

test('a path that is too long for a socket is logged, and the service still starts', async context => {
  const dataDir = join(directory(context), 'x'.repeat(120))
  mkdirSync(dataDir)
  const { warnings } = await channelIn(context, dataDir)
  assert.match(warnings.join(), /too long for a socket/)
})

test('a service that stops does not remove the socket of its successor', async context => {
  const dataDir = directory(context)
  const first = await channelIn(context, dataDir)
  unlinkSync(join(dataDir, 'admin.sock'))
  await channelIn(context, dataDir)
  await first.channel.stop()
  assert.equal(existsSync(join(dataDir, 'admin.sock')), true)
  assert.deepEqual(await (await clientOf(dataDir)).perform('platform.list', {}, run()), [])
})

test('a socket that others can write to is not trusted', async context => {
  const dataDir = directory(context)
  await channelIn(context, dataDir)
  chmodSync(join(dataDir, 'admin.sock'), 0o666)
  await assert.rejects(AdminClient.connect(dataDir), /open to other users/)
})

test('unknown operations and invalid inputs are refused by name, and nothing is done', async context => {
  const dataDir = directory(context)
  const reads: string[] = []
  const store = { platforms: new Proxy({}, { get: (_, name) => void reads.push(String(name)) }) }
  await channelIn(context, dataDir, idle(store))
  const cases: readonly (readonly [string, string, string, RegExp])[] = [
    ['GET', '/platform.list', '', /does not know this operation/],
    ['POST', '/', '', /does not know/],
    ['POST', '/platform.destroy', '{}', /does not know/],
    ['POST', '/__proto__', '{}', /does not know/],
    ['POST', '/toString', '{}', /does not know/],
    ['POST', '/platform.create', '{"by":', /not JSON/],
    ['POST', '/platform.create', '[]', /by and input/],
    ['POST', '/platform.create', '{"input":{"name":"x","redirects":[]}}', /by and input/],
    ['POST', '/platform.create', '{"by":"a\\u001bb","input":{"name":"x","redirects":[]}}', /by must be/],
    ['POST', '/platform.create', '{"by":"me"}', /name must be/],
    ['POST', '/platform.create', '{"by":"me","input":{"name":"","redirects":[]}}', /name must be/],
    ['POST', '/platform.create', '{"by":"me","input":{"name":"a\\u202eb","redirects":[]}}', /name must be/],
    ['POST', '/platform.create', '{"by":"me","input":{"name":"x","redirects":"https://a.example"}}', /redirects must be/],
    [
      'POST',
      '/platform.create',
      '{"by":"me","input":{"name":"x","redirects":["http://a.example"],"claims":false}}',
      /redirect 1 must use https/
    ],
    ['POST', '/platform.create', '{"by":"me","input":{"name":"x","redirects":["javascript:alert(1)"],"claims":false}}', /redirect 1 must/],
    ['POST', '/platform.create', '{"by":"me","input":{"name":"x","redirects":[],"claims":false,"color":"red"}}', /color must be a colour/],
    ['POST', '/platform.edit', '{"by":"me","input":{"platform":"pk_x","appUrl":5}}', /app_url must be/],
    [
      'POST',
      '/key.create',
      '{"by":"me","input":{"platform":"pk_x","name":"x","scopes":["read"],"addresses":[],"expiresAt":"2027-01-01T00:00Z"}}',
      /expires must be an RFC 3339 date-time/
    ],
    ['POST', '/keys.rotate', '{"by":"me","input":{"mode":"all","retire":"no"}}', /mode must be/],
    ['POST', '/audit.list', '{"by":"me","input":{"limit":1e9}}', /limit must be/],
    ['POST', '/orders.unresolved', '{"by":"me","input":{"limit":0}}', /limit must be/],
    ['POST', '/orders.settle', '{"by":"me","input":{"orderId":"x","because":"seen","unseen":false}}', /order_id must be/],
    [
      'POST',
      '/orders.settle',
      '{"by":"me","input":{"orderId":"01a1fc40-bac8-7000-9fad-169d6cee0b61","because":"","unseen":false}}',
      /because must be/
    ],
    [
      'POST',
      '/orders.settle',
      '{"by":"me","input":{"orderId":"01a1fc40-bac8-7000-9fad-169d6cee0b61","because":"seen","unseen":"yes"}}',
      /unseen must be/
    ],
    [
      'POST',
      '/orders.settle',
      '{"by":"me","input":{"orderId":"01a1fc40-bac8-7000-9fad-169d6cee0b61","because":"seen","unseen":true}}',
      /Start it/
    ],
    ['POST', '/audit.verify', '{"by":"me","input":{"kept":{"position":1,"hash":"x"}}}', /chain head must be/],
    ['POST', '/platform.create', JSON.stringify({ by: 'me', input: 'x'.repeat(300_000) }), /larger than/]
  ]
  for (const [method, path, body, answer] of cases) {
    const { refused } = JSON.parse(await ask(join(dataDir, 'admin.sock'), method, path, body))
    assert.match(refused, answer, `${method} ${path} ${body.slice(0, 80)}`)
  }
  assert.deepEqual(reads, [])
})

test('an unexpected failure is reported without secrets', async context => {
  const dataDir = directory(context)
  const list = async () => {
    throw new Error('connection to postgres://app:canary@db failed')
  }
  await channelIn(context, dataDir, idle({ list }))
  await assert.rejects(
    (await clientOf(dataDir)).perform('platform.list', {}, run()),
    error => error instanceof AdminFailed && /postgres:\/\/app:\[redacted\]@db/.test(error.message)
  )
})

test('a service that stops aborts a running operation, and says that it can be repeated', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const asleep = Promise.withResolvers<void>()
  const slow = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    nextTurn: () => clock.nextTurn(),
    alarm: (ms: number, ring: () => void) => clock.alarm(ms, ring),
    sleep: (_: number, signal?: AbortSignal) => {
      asleep.resolve()
      return untilAborted(signal)
    }
  }
  const { channel } = await channelIn(context, dataDir, adminOver(store, keysIn(dataDir), { clock: slow }))
  const rotation = (await clientOf(dataDir)).perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  const refused = assert.rejects(rotation, /service is shutting down/)
  await asleep.promise
  await channel.stop()
  await refused
})

test('an operator who disconnects aborts the operation', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  let ended: unknown
  const slow = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    nextTurn: () => clock.nextTurn(),
    alarm: (ms: number, ring: () => void) => clock.alarm(ms, ring),
    sleep: (_: number, signal?: AbortSignal) =>
      untilAborted(signal).catch(reason => {
        ended = reason
        throw reason
      })
  }
  await channelIn(context, dataDir, adminOver(store, keysIn(dataDir), { clock: slow }))
  const gone = new AbortController()
  const rotation = (await clientOf(dataDir)).perform('keys.rotate', { mode: 'add', retire: 'no' }, run({ signal: gone.signal }))
  const aborted = assert.rejects(rotation)
  await until(async () => (await store.audit.list(5)).some(({ action }) => action === 'keys.add'), 'the rotation began')
  gone.abort()
  await aborted
  await until(() => ended instanceof AdminRefused, 'the service noticed')
})

/** A sleep that only its signal ends, which may have come before it. */
function untilAborted(signal?: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    if (signal?.aborted === true) reject(signal.reason)
    else signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function ask(socketPath: string, method: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    // The service may answer and close before it has read everything.
    sent.on('error', cause => ('code' in cause && cause.code === 'EPIPE' ? undefined : reject(cause)))
    sent.end(body)
  })
}

/** A socket that nobody listens on any more, as a killed process leaves it. */
async function leftBehind(path: string): Promise<void> {
  const server: Server = createServer()
  await new Promise<void>(resolve => server.listen(`${path}.other`, resolve))
  chmodSync(`${path}.other`, 0o600)
  renameSync(`${path}.other`, path)
  await new Promise(resolve => server.close(resolve))
}
