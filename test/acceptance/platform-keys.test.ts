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
    const headers = { ...stage.api.as(trader.person), 'client-id': key.client_id, 'client-secret': key.client_secret }
    const { status, body } = await stage.api.call('GET', path, { headers })
    return status === 200 ? 200 : body.code
  }

  async function session(key: { readonly client_id: string; readonly client_secret: string }): Promise<StreamClient> {
    const client = await stage.stranger()
    await client.authenticate(key)
    return client
  }

  test('a key that may only read reads and follows; one that may not is told which scope it needs', async () => {
    const [reader, desk] = [await makeKey('read'), await makeKey('trade', 'users')]
    assert.deepEqual([await call(reader, '/orders'), await call(desk, '/orders')], [200, 'scope_missing'])
    await (await session(reader))[Symbol.asyncDispose]()
    const refused = await stage.stranger()
    const reply = await refused.ask({ action: 'authenticate', client_id: desk.client_id, client_secret: desk.client_secret })
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
