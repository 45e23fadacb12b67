// What breaks a connection: the broker's definitive rejection, at once, and nothing else, however long it lasts. The adapter and the mirror
// together, over real sockets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listConnections } from '@trunkline/core/app/connections/list-connections'
import { Bench } from '@trunkline/testkit/bench'
import { selfSigned } from '@trunkline/testkit/certificate'
import { SandboxWorld } from './sandbox-world.ts'
import { answers, cutShort, type Endpoint, type FaultHandler, hangs, html, reset, truncated } from './stub-sandbox.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const MINUTE = 60_000
const FAULTS = answers(500, '{"error":{"code":"internal_error","message":"no"}}')
const TOKEN_401 = answers(401, '{"error":{"code":"token_invalid","message":"no"}}')

const READS: readonly (readonly [what: string, handler: FaultHandler])[] = [
  ['500', FAULTS],
  ['502 with a page', answers(502, '<h1>Bad Gateway</h1>', { 'content-type': 'text/html' })],
  ['503', answers(503, '')],
  ['429 without Retry-After', answers(429, '{}')],
  ['429 with Retry-After', answers(429, '{}', { 'retry-after': '7' })],
  ['429 that asks for a day', answers(429, '{}', { 'retry-after': '86400' })],
  ['403', answers(403, '{"error":{"code":"scope_missing","message":"no"}}')],
  ['404', answers(404, '{}')],
  ['a page instead of JSON', html],
  ['truncated bodies', truncated],
  ['bodies cut short', cutShort],
  ['an empty object', answers(200, '{}')],
  ['a redirect', answers(302, '', { location: 'https://login.example/' })],
  ['resets', reset],
  ['no answer at all', hangs]
]

const TOKENS: readonly (readonly [what: string, handler: FaultHandler])[] = [
  ...READS.filter(([what]) => what !== '403' && what !== '404'),
  ['400 invalid_client', answers(400, '{"error":"invalid_client"}')],
  ['401 invalid_client', answers(401, '{"error":"invalid_client"}', { 'www-authenticate': 'Basic realm="x"' })],
  ['400 invalid_request', answers(400, '{"error":"invalid_request"}')],
  ['500 invalid_grant', answers(500, '{"error":"invalid_grant"}')],
  ['a token that is none', answers(200, '{"token_type":"Bearer"}')]
]

async function stays(world: SandboxWorld, minutes: number): Promise<void> {
  await world.clock.advance(minutes * MINUTE)
  assert.deepEqual([await world.status(), world.health.state], ['ACTIVE', 'stale'])
}

async function heals(world: SandboxWorld): Promise<void> {
  world.stub.injectFaults({})
  await world.clock.advance(MINUTE)
  // A broker that asked for a pause gets it, an hour at most.
  await world.clock.until(() => world.health.state === 'live', 'live again', 70 * MINUTE)
  assert.ok(world.healths.every(({ state }) => state !== 'broken'))
  assert.equal(await world.status(), 'ACTIVE')
}

for (const [what, handler] of READS) {
  test(`reads and stream that fail (${what}) break nothing`, async () => {
    await using world = await SandboxWorld.open(bench.store)
    world.app.mirrors.hold(world.connection)
    await world.live()
    world.stub.injectFaults({ read: handler, stream: handler })
    await stays(world, 5)
    await heals(world)
  })
}

for (const [what, handler] of TOKENS) {
  test(`a token endpoint that fails (${what}) breaks nothing`, async () => {
    await using world = await SandboxWorld.open(bench.store, { tokenSeconds: -1 })
    world.stub.injectFaults({ token: handler })
    world.app.mirrors.hold(world.connection)
    await stays(world, 5)
    assert.ok(world.stub.requests.token >= 3, `asked ${world.stub.requests.token} times`)
    await heals(world)
  })
}

test('an hour of 5xx at every endpoint, and the connection is as good as new', async () => {
  await using world = await SandboxWorld.open(bench.store)
  world.app.mirrors.hold(world.connection)
  await world.live()
  world.stub.injectFaults({ read: FAULTS, token: FAULTS, stream: FAULTS })
  await stays(world, 60)
  const { read, stream } = world.stub.requests
  // It is asked all the time, and not hammered: three attempts each quarter of a minute, a stream each half.
  assert.ok(read > 170 && read < 2_000 && stream > 70 && stream < 500, `${read} reads, ${stream} streams`)
  await heals(world)
})

test('a token that ends in the middle is renewed silently', async () => {
  await using world = await SandboxWorld.open(bench.store, { tokenSeconds: 60 })
  world.app.mirrors.hold(world.connection)
  await world.live()
  world.healths.length = 0
  await world.clock.advance(130 * MINUTE)
  assert.deepEqual([await world.status(), world.healths], ['ACTIVE', []])
  assert.ok(world.stub.requests.token >= 3, `asked ${world.stub.requests.token} times`)
})

test('401 once, then a new token and all is well', async () => {
  await using world = await SandboxWorld.open(bench.store)
  world.app.mirrors.hold(world.connection)
  await world.live()
  world.stub.forgetTokens()
  world.stub.close(4003)
  await world.clock.advance(MINUTE)
  assert.deepEqual([await world.status(), world.health.state, world.stub.requests.token], ['ACTIVE', 'live', 1])
  assert.deepEqual(
    world.healths.map(({ state }) => state).filter(state => state !== 'polling'),
    ['live', 'stale', 'live']
  )
})

test('401 to every token while no new one can be obtained is not a rejection', async () => {
  await using world = await SandboxWorld.open(bench.store)
  world.app.mirrors.hold(world.connection)
  await world.live()
  world.stub.injectFaults({ read: TOKEN_401, token: FAULTS, stream: FAULTS })
  await stays(world, 15)
  await heals(world)
})

for (const [what, options, reason] of [
  // The resolver's time is real: it may take longer to say no than the broker may be silent on the virtual clock.
  ['a name that does not resolve', { baseUrl: 'http://no-such-host.invalid' }, /cannot be reached|fell silent/],
  ['a certificate nobody vouches for', { certificate: selfSigned(30) }, /cannot be reached/],
  ['a port where nobody listens', { baseUrl: 'http://127.0.0.1:1' }, /cannot be reached/]
] as const) {
  test(`${what} breaks nothing`, async () => {
    await using world = await SandboxWorld.open(bench.store, options)
    world.app.mirrors.hold(world.connection)
    await stays(world, 5)
    assert.match(world.health.reason ?? '', reason)
    assert.deepEqual(world.stub.requests, { token: 0, read: 0, stream: 0 } satisfies Record<Endpoint, number>)
  })
}

const REJECTIONS: readonly (readonly [what: string, reject: (world: SandboxWorld) => void])[] = [
  [
    'invalid_grant',
    world => {
      world.stub.forgetTokens()
      world.stub.injectFaults({ token: answers(400, '{"error":"invalid_grant"}') })
    }
  ],
  ['401 to a token just obtained', world => world.stub.injectFaults({ read: TOKEN_401 })]
]

for (const [what, reject] of REJECTIONS) {
  test(`${what} breaks the connection at once, and every read shows it`, async () => {
    await using world = await SandboxWorld.open(bench.store)
    world.app.mirrors.hold(world.connection)
    await world.live()
    await world.app.directory.connections(world.caller.user.userKey)
    world.healths.length = 0
    reject(world)
    world.stub.close(4003)
    await world.clock.advance(10_000)
    assert.deepEqual(world.healths.at(-1)?.state, 'broken')
    const [row] = await listConnections(world.app, world.caller, null)
    assert.deepEqual([row?.connection.status, row?.health.state], ['BROKEN', 'broken'])
    const [known] = await world.app.directory.connections(world.caller.user.userKey)
    assert.equal(known?.status, 'BROKEN')
    const requests = { ...world.stub.requests }
    await world.clock.advance(60 * MINUTE)
    assert.deepEqual([world.stub.requests, world.app.mirrors.count], [requests, 0])
  })
}
