// The whole way of a login with keys, to a broker's own adapter: keys of a sandbox customer, an order with them, and their end.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Browser, json, openScene, type Scene } from './support.ts'

describe('Alpaca with keys', () => {
  let scene: Scene
  let keys: Readonly<Record<string, string>>
  before(async () => {
    scene = await openScene({}, { TRUNKLINE_ALPACA_API_KEYS: 'sandbox' })
    const { items } = await json(`${scene.demo.sandbox_control_url}/logins`, {})
    assert.ok(Array.isArray(items))
    keys = items[0].keys.alpaca
  })
  after(() => scene[Symbol.asyncDispose]())

  async function form(userId: string): Promise<{ browser: Browser; address: string }> {
    const browser = new Browser()
    return { browser, address: await browser.approve(await scene.link(userId, { broker: 'ALPACA' }), 'ALPACA') }
  }

  test('valid keys connect, and invalid ones are requested again', async () => {
    const { browser, address } = await form('alex')
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ ...keys, secret_key: 'x'.repeat(40) }, /Alpaca did not accept these keys/],
      [{ key_id: 'PKNOBODYNOBODYNOBODY', secret_key: 'x'.repeat(40) }, /Alpaca did not accept these keys/],
      [{ ...keys, key_id: 'no key' }, /API key ID must be 8 to 64 letters and digits[^<]*\.</]
    ]
    for (const [entered, pattern] of cases) {
      assert.match((await browser.send(address, entered)).html, pattern)
    }
    assert.equal((await browser.post(address, keys)).location, `${scene.url}/connect/result/connected`)
    assert.equal(await scene.connections('alex'), 1)
  })

  test('keys that are revoked break the connection', async () => {
    const { browser, address } = await form('robin')
    await browser.post(address, keys)
    const user = scene.as('robin')
    const [account] = await rows(`${scene.url}/accounts`, user)
    assert.equal(account?.broker, 'ALPACA')
    await json(`${scene.demo.sandbox_control_url}/logins/alex/revoke`, {}, {})
    await until(async () => {
      await fetch(`${scene.url}/balances`, { headers: user })
      const [connection] = await rows(`${scene.url}/connections`, user)
      return connection?.status === 'BROKEN'
    }, 'the connection is broken')
  })

  async function rows(url: string, headers: Readonly<Record<string, string>>): Promise<readonly Record<string, unknown>[]> {
    const answer: unknown = await (await fetch(url, { headers })).json()
    assert.ok(Array.isArray(answer), JSON.stringify(answer))
    return answer
  }
})
