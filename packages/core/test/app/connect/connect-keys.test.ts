// A login with the user's own keys: the same connection as any other, a few tries, and no trace of the entered keys anywhere.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCredentials } from '@trunkline/core/app/broker-access/credentials'
import { approveAttempt, declineAttempt } from '@trunkline/core/app/connect/decide'
import { askForKeys, enterKeys, KEY_TRIES_MAX } from '@trunkline/core/app/connect/enter-keys'
import { startAttempt } from '@trunkline/core/app/connect/start-attempt'
import type { PortalDeps } from '@trunkline/core/app/connect/visit'
import type { ConnectionId } from '@trunkline/core/domain/ids'
import { CommitUnknown } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import { GOOD_KEYS, KeyedBroker } from '@trunkline/testkit/scripted-broker/keyed-broker'
import { withMethods } from '@trunkline/testkit/with-methods'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const WRONG = { ...GOOD_KEYS, secret_key: 'canary-wrong-secret-0123' }
const REDIRECT = 'https://app.example.com/linked'
const browserSession = (browser: string | null) => ({ browser, ip: '192.0.2.7', requestId: 'r-1' })

/** A world with a second broker that uses keys, and an attempt to connect to it. */
async function stage(broker: 'KEYED' | null = 'KEYED') {
  const world = await bench.world()
  const keyed = new KeyedBroker(world.clock)
  const { id } = keyed.definition.capabilities
  const deps: World['deps'] = { ...world.deps, brokers: new Map([...world.deps.brokers, [id, keyed.definition]]) }
  const request = { connectionType: 'trade', redirectUrl: REDIRECT, redirectOnErrorUrl: null } as const
  const anywhere = { ...world.caller, platform: { ...world.caller.platform, redirectAllowList: [] } }
  const { token } = await startAttempt(deps, anywhere, { ...request, broker: broker === null ? null : id })
  const enter = (entered: Readonly<Record<string, unknown>>, browser: string | null = 'mine', portal: PortalDeps = deps) =>
    enterKeys(portal, token, { broker: id, entered }, browserSession(browser))
  return {
    ...{ world, deps, keyed, token, id, enter },
    approve: (browser = 'mine', at = id) =>
      approveAttempt(
        deps,
        token,
        { ...browserSession(browser), browser },
        { broker: at, callbackUrl: () => 'https://us.example/callback' }
      ),
    connections: async () => (await bench.store.connections.listByUser(world.caller.user.userKey, null)).filter(row => row.broker === id),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]()
  }
}

test('valid keys make a connection with its accounts, and are stored sealed', async () => {
  await using scene = await stage()
  assert.deepEqual(await scene.approve(), { kind: 'keys_wanted' })
  const form = await askForKeys(scene.deps, scene.token, scene.id, browserSession('mine'))
  assert.ok(form.kind === 'key_form')
  assert.deepEqual(
    form.login.fields.map(({ name }) => name),
    Object.keys(GOOD_KEYS)
  )
  // Copying a key may add spaces around it.
  const outcome = await scene.enter({ ...GOOD_KEYS, secret_key: ` ${GOOD_KEYS.secret_key}\n`, more: 'x' })
  const [connection] = await scene.connections()
  assert.ok(connection !== undefined)
  const { platformId } = connection
  const attempt = await bench.store.attempts.findByTokenHash(scene.deps.hasher.hash(scene.token))
  assert.ok(attempt !== null)
  const { attemptId } = attempt
  assert.deepEqual(outcome, {
    ...{ kind: 'outcome', reason: 'connected', platformId, attemptId },
    redirect: `${REDIRECT}?connection_id=${connection.connectionId}`
  })
  assert.equal(connection.status, 'ACTIVE')
  const sealed = await bench.store.connections.credentials(connection.connectionId)
  assert.ok(sealed !== null)
  assert.ok(!Buffer.from(sealed.sealed).includes(GOOD_KEYS.secret_key))
  assert.deepEqual(openCredentials(scene.deps.vault, connection, sealed, { environment: 'paper', host: 'local' }), {
    id: GOOD_KEYS.key_id,
    secret: GOOD_KEYS.secret_key
  })
  const [entry] = await bench.store.audit.list(1)
  assert.deepEqual(
    [entry?.action, entry?.result, entry?.target, entry?.ip],
    ['connection.create', 'ok', connection.connectionId, '192.0.2.7']
  )
  assert.deepEqual(await scene.enter(GOOD_KEYS), {
    kind: 'outcome',
    reason: 'used',
    platformId,
    attemptId,
    redirect: again('400', 'The link has been used. Create a new connection.')
  })
  assert.equal((await scene.connections()).length, 1)
})

test('keys that the broker rejects may be entered again, five times in all', async () => {
  await using scene = await stage()
  await scene.approve()
  for (let tries = 1; tries < KEY_TRIES_MAX; tries++) {
    const answer = await scene.enter(WRONG)
    assert.ok(answer.kind === 'try_again')
    assert.deepEqual(answer.why, { kind: 'refused' })
    const [entry] = await bench.store.audit.list(1)
    assert.deepEqual(
      [entry?.action, entry?.result, entry?.detail],
      ['connection.keys', 'refused', { broker: 'KEYED', fault: 'credentials_rejected', tries }]
    )
  }
  const last = await scene.enter(WRONG)
  assert.ok(last.kind === 'outcome')
  assert.deepEqual(
    [last.reason, last.redirect],
    ['keys_refused', again('401', 'The broker did not accept the keys that the user entered.')]
  )
  const late = await scene.enter(GOOD_KEYS)
  assert.ok(late.kind === 'outcome' && late.reason === 'used')
  assert.equal(scene.keyed.requested.length, KEY_TRIES_MAX, 'nothing more was asked of the broker')
  assert.deepEqual(await scene.connections(), [])
})

test('one mistake does not use up the link', async () => {
  await using scene = await stage()
  await scene.approve()
  assert.equal((await scene.enter(WRONG)).kind, 'try_again')
  const outcome = await scene.enter(GOOD_KEYS)
  assert.ok(outcome.kind === 'outcome' && outcome.reason === 'connected')
})

test('concurrent tries count too, and approving again does not add tries', async () => {
  await using scene = await stage()
  await scene.approve()
  const answers = await Promise.all(Array.from({ length: 12 }, () => scene.enter(WRONG)))
  await scene.approve()
  answers.push(await scene.enter(WRONG))
  assert.equal(scene.keyed.requested.length, KEY_TRIES_MAX)
  assert.ok(answers.some(answer => answer.kind === 'outcome' && answer.reason === 'keys_refused'))
})

test('entering valid keys twice at the same moment makes one connection', async () => {
  await using scene = await stage()
  await scene.approve()
  const both = Promise.withResolvers<void>()
  scene.keyed.pause = () => {
    if (scene.keyed.requested.length === 2) both.resolve()
    return both.promise
  }
  const answers = await Promise.all([scene.enter(GOOD_KEYS), scene.enter(GOOD_KEYS)])
  assert.deepEqual(answers.map(answer => (answer.kind === 'outcome' ? answer.reason : answer.kind)).sort(), ['connected', 'used'])
  assert.equal((await scene.connections()).length, 1)
})

test('a broker that does not answer does not count against the keys', async () => {
  await using scene = await stage()
  await scene.approve()
  for (const fault of ['unreachable', 'rate_limited', 'malformed', 'refused'] as const) {
    scene.keyed.fault = fault
    const answer = await scene.enter(GOOD_KEYS)
    assert.ok(answer.kind === 'try_again', fault)
    assert.deepEqual(answer.why, { kind: 'unreachable' })
  }
  const last = await scene.enter(GOOD_KEYS)
  assert.ok(last.kind === 'outcome')
  assert.deepEqual([last.reason, last.redirect], ['broker_down', again('500', 'The broker could not complete the login. Try again later.')])
  assert.equal(scene.world.logged.filter(({ level }) => level === 'warn').length, KEY_TRIES_MAX)
})

test('an entry that cannot be a key is not sent to the broker, and is not a try', async () => {
  await using scene = await stage()
  await scene.approve()
  const bad: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{}, /^API key is missing\. Secret key is missing\.$/],
    [{ ...GOOD_KEYS, key_id: '   ' }, /^API key is missing\.$/],
    [{ ...GOOD_KEYS, secret_key: ['a', 'b'] }, /^Secret key is missing\.$/],
    [{ ...GOOD_KEYS, secret_key: { toString: 'x' } }, /^Secret key is missing\.$/],
    [{ ...GOOD_KEYS, secret_key: 'y'.repeat(129) }, /^Secret key has at most 128 characters\.$/],
    [{ ...GOOD_KEYS, key_id: 'PK\r\nx-injected: 1' }, /^API key has only letters/],
    [{ ...GOOD_KEYS, key_id: 'PK\u0000' }, /^API key has only letters/],
    [{ ...GOOD_KEYS, secret_key: 'schlüssel' }, /^Secret key has only letters/],
    [{ ...GOOD_KEYS, key_id: 'AKGOODKEY0001' }, /begins with PK/],
    [{ key_id: 'PK\u0000', secret_key: 'y'.repeat(129) }, /^API key has only letters.*\. Secret key has at most 128 characters\.$/],
    [Object.create({ ...GOOD_KEYS }), /^API key is missing\. Secret key is missing\.$/]
  ]
  for (const [entered, pattern] of bad) {
    const answer = await scene.enter(entered)
    assert.ok(answer.kind === 'try_again' && answer.why.kind === 'entry', JSON.stringify(entered))
    assert.match(answer.why.complaints.map(({ message }) => message).join(' '), pattern)
  }
  assert.deepEqual(scene.keyed.requested, [])
  const outcome = await scene.enter(GOOD_KEYS)
  assert.ok(outcome.kind === 'outcome' && outcome.reason === 'connected')
})

test('only the browser that approved can enter keys, and only after its approval', async () => {
  await using scene = await stage()
  assert.deepEqual(await scene.enter(GOOD_KEYS), { kind: 'stale_form' }, 'the user was not asked yet')
  await scene.approve()
  for (const browser of ['other', null]) {
    assert.deepEqual(await scene.enter(GOOD_KEYS, browser), {
      ...{ kind: 'outcome', reason: 'other_browser', redirect: null, platformId: null, attemptId: null }
    })
    assert.deepEqual(await askForKeys(scene.deps, scene.token, scene.id, browserSession(browser)), {
      kind: 'outcome',
      reason: 'other_browser',
      redirect: null,
      platformId: null,
      attemptId: null
    })
  }
  assert.deepEqual(scene.keyed.requested, [])
})

test('a broker with its own login page has no form for keys, and one with keys has no login page', async () => {
  await using scene = await stage(null)
  await scene.approve()
  const oauth = scene.world.connection.broker
  const elsewhere = await enterKeys(scene.deps, scene.token, { broker: oauth, entered: GOOD_KEYS }, browserSession('mine'))
  assert.deepEqual(elsewhere, { kind: 'stale_form' })
  assert.deepEqual(await askForKeys(scene.deps, scene.token, oauth, browserSession('mine')), { kind: 'stale_form' })
  // The user may still change their mind, both ways.
  assert.equal((await scene.approve('mine', oauth)).kind, 'redirect')
  const outcome = await scene.enter(GOOD_KEYS)
  assert.ok(outcome.kind === 'outcome' && outcome.reason === 'connected')
})

test('a link that was declined, has expired or is unknown accepts no keys', async () => {
  await using scene = await stage()
  await scene.approve()
  const expired = withMethods(scene.deps.clock, {
    now: () => scene.world.clock.now().replace(/^20/, '30') as ReturnType<World['clock']['now']>
  })
  const late = await scene.enter(GOOD_KEYS, 'mine', { ...scene.deps, clock: expired })
  assert.ok(late.kind === 'outcome' && late.reason === 'expired')
  await declineAttempt(scene.deps, scene.token, { ...browserSession('mine'), browser: 'mine' })
  const declined = await scene.enter(GOOD_KEYS)
  assert.ok(declined.kind === 'outcome' && declined.reason === 'used')
  const unknown = await enterKeys(scene.deps, 'x'.repeat(43), { broker: scene.id, entered: GOOD_KEYS }, browserSession('mine'))
  assert.deepEqual(unknown, {
    ...{ kind: 'outcome', reason: 'unknown_link', redirect: null, platformId: null, attemptId: null }
  })
  assert.deepEqual(scene.keyed.requested, [])
})

test('nothing that was entered is in the log, the audit log or an answer', async () => {
  await using scene = await stage()
  await scene.approve()
  const answers: unknown[] = [await scene.enter(WRONG), await scene.enter({ ...GOOD_KEYS, key_id: 'canary-no-key' })]
  scene.keyed.fault = 'malformed'
  answers.push(await scene.enter(WRONG))
  scene.keyed.fault = null
  answers.push(await scene.enter(GOOD_KEYS))
  const texts = answers.map(answer => JSON.stringify(answer, (name, value) => (name === 'definition' ? undefined : value)))
  const everything = [...texts, JSON.stringify(scene.world.logged), JSON.stringify(await bench.store.audit.list(1_000))].join('\n')
  assert.ok(everything.includes('connection.create'))
  assert.ok(!/canary|PKGOOD/.test(everything))
  const ids: readonly ConnectionId[] = (await scene.connections()).map(({ connectionId }) => connectionId)
  assert.equal(ids.length, 1)
})

function again(error: string, details: string): string {
  return `${REDIRECT}?error=${error}&error_details=${encodeURIComponent(details)}`
}

test('a stored login whose commit was not confirmed is not a failure: the redirect has its claim code', async () => {
  await using scene = await stage()
  await scene.approve()
  scene.world.watched.intercept = async call => {
    if (call.name === 'platforms.find') return { ...scene.world.caller.platform, claims: true }
    const result = await call.go()
    if (call.name === 'connections.create') throw new CommitUnknown('no answer')
    return result
  }
  const outcome = await scene.enter(GOOD_KEYS)
  assert.ok(outcome.kind === 'outcome' && outcome.redirect !== null)
  const { searchParams } = new URL(outcome.redirect)
  assert.deepEqual([outcome.reason, [...searchParams.keys()]], ['connected', ['connection_id', 'claim_code']])
})
