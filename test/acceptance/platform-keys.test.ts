// Keys, platforms and users that an operator shuts out while the service runs: what they could do ends at that moment.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { StreamClient } from './stream-client.ts'
import { Stage, type Trader } from './stream-stage.ts'

const ENDED = 4003

describe('keys of a platform, on a running service', () => {
  let stage: Stage
  let trader: Trader
  before(async () => {
    stage = await Stage.open('embedded')
    trader = await stage.trader()
  })
  after(() => stage[Symbol.asyncDispose]())

  const makeKey = (...scopes: readonly string[]) =>
    stage.operate(
      'platform',
      'key',
      'create',
      stage.credentials.client_id,
      '--name',
      scopes.join(),
      ...scopes.flatMap(scope => ['--scope', scope])
    )

  const call = async (key: { readonly client_id: string; readonly client_secret: string }, path: string) => {
    const headers = { ...stage.api.as(trader.user), 'client-id': key.client_id, 'client-secret': key.client_secret }
    const { status, body } = await stage.api.call('GET', path, { headers })
    return status === 200 ? 200 : body.code
  }

  async function session(key: { readonly client_id: string; readonly client_secret: string }): Promise<StreamClient> {
    const client = await stage.unauthenticated()
    await client.authenticate(key)
    return client
  }

  test('a key that may only read reads and follows; one that may not learns which scope it needs', async () => {
    const [reader, trader] = [await makeKey('read'), await makeKey('trade', 'users')]
    assert.deepEqual([await call(reader, '/orders'), await call(trader, '/orders')], [200, 'scope_missing'])
    await (await session(reader))[Symbol.asyncDispose]()
    const refused = await stage.unauthenticated()
    const reply = await refused.ask({ action: 'authenticate', client_id: trader.client_id, client_secret: trader.client_secret })
    assert.deepEqual([reply.type, /scope read/.test(reply.message)], ['auth_error', true])
    await refused[Symbol.asyncDispose]()
  })

  test('a disabled key is refused at once, and its sessions end; those of other keys stay [S37]', async () => {
    const [key, other] = [await makeKey('read'), await makeKey('read')]
    const [mine, theirs] = [await session(key), await session(other)]
    assert.equal(await call(key, '/orders'), 200)
    await stage.operate('platform', 'key', 'disable', key.client_id)
    assert.equal(await call(key, '/orders'), 'credentials_invalid')
    assert.equal((await mine.ended()).code, ENDED)
    assert.equal(await call(other, '/orders'), 200)
    await theirs.quiet()
    await theirs[Symbol.asyncDispose]()
  })

  test('what a key made lives no longer than the key: a token until its end or its secret’s, a link until it is disabled', async () => {
    const { client_id } = stage.credentials
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    const scopes = ['--scope', 'read', '--scope', 'users']
    const key = await stage.operate('platform', 'key', 'create', client_id, '--name', 'hour', ...scopes, '--expires', expires)
    const as = (pair: typeof key) => ({
      ...stage.api.as(trader.user),
      ...{ 'client-id': pair.client_id, 'client-secret': pair.client_secret }
    })
    const token = async (pair: typeof key) =>
      (await stage.api.call('GET', `/connections/${trader.connectionId}/token`, { headers: as(pair) })).body
    const ends = async (pair: typeof key) => Date.parse((await token(pair)).expires_at)
    assert.ok((await ends(key)) <= Date.parse(expires))
    assert.ok((await token(key)).expires_in <= 3_600)
    const next = await stage.operate('platform', 'rotate-secret', key.client_id, '--overlap', '10m')
    assert.ok((await ends(key)) < (await ends({ ...key, client_secret: next.client_secret })))
    const body = { connection_type: 'trade', broker: 'SANDBOX' }
    const begun = await stage.api.call('POST', '/connections', { headers: as(key), body })
    const status = async () => (await fetch(begun.body.authorization_url)).status
    assert.equal(await status(), 200)
    await stage.operate('platform', 'key', 'disable', key.client_id)
    assert.equal(await status(), 400)
  })

  test('of a disabled user nothing is read, and nobody follows it [S37]', async () => {
    const { client_id } = stage.credentials
    const client = await stage.session(['all'])
    await client.follow(trader.userId)
    await stage.operate('user', 'disable', client_id, trader.userId)
    assert.equal(await call(stage.credentials, '/orders'), 'credentials_invalid')
    assert.deepEqual(
      [(await client.reply()).type, (await client.ask({ action: 'subscribe_user', user_id: trader.userId })).type],
      ['user_unsubscribed', 'subscription_failed']
    )
    await stage.operate('user', 'enable', client_id, trader.userId)
    assert.equal(await call(stage.credentials, '/orders'), 200)
    await client[Symbol.asyncDispose]()
  })

  test('a disabled platform is refused at once, its sessions end, and it comes back with the same keys', async () => {
    const { client_id } = stage.credentials
    const client = await stage.session()
    await stage.operate('platform', 'disable', client_id)
    assert.equal(await call(stage.credentials, '/orders'), 'credentials_invalid')
    assert.equal((await client.ended()).code, ENDED)
    await stage.operate('platform', 'enable', client_id)
    assert.equal(await call(stage.credentials, '/orders'), 200)
    await (await stage.session())[Symbol.asyncDispose]()
  })
})
