// A login that ended is renewed through the real portal at the real sandbox: the same ids, and orders go out again. Another's login is not
// taken.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Browser, json, openScene, type Scene } from './support.ts'

const REDIRECT = 'https://app.example.com/linked'
const PATIENCE_MS = 60_000

describe('renewing a login', () => {
  let scene: Scene
  before(async () => {
    scene = await openScene()
  })
  after(() => scene[Symbol.asyncDispose]())

  const connection = async () => {
    const rows: unknown = await (await fetch(`${scene.url}/connections`, { headers: scene.as('alex') })).json()
    assert.ok(Array.isArray(rows) && rows.length === 1, JSON.stringify(rows))
    return rows[0]
  }
  const order = async (clOrdId: string, accountId: string) =>
    await json(`${scene.url}/orders`, scene.as('alex'), {
      ...{ account_id: accountId, broker: 'SANDBOX', cl_order_id: clOrdId, side: 'BUY', order_type: 'LMT', order_tif: 'GTC' },
      ...{ symbol: 'SPY', order_qty: '1', order_limit_price: '1.00' }
    })
  /** Finishes a link with a login of the sandbox. Gives where the browser ends. */
  const finished = async (link: string, login: number) => {
    const browser = new Browser()
    const { sandbox_logins: logins } = scene.demo
    const back = await browser.logIn(await browser.approve(link), { ...scene.demo, sandbox_logins: logins.slice(login) })
    return new URL((await browser.get(back)).location).searchParams
  }
  const revoked = async (login: string) => {
    await json(`${scene.demo.sandbox_control_url}/logins/${login}/revoke`, {}, {})
    await until(
      async () => {
        await fetch(`${scene.url}/balances`, { headers: scene.as('alex') })
        return (await connection()).status === 'BROKEN'
      },
      'the connection is broken',
      PATIENCE_MS
    )
  }

  test('the same login renews the connection with its ids; another login changes nothing', async () => {
    const [alex] = scene.demo.sandbox_logins
    const name = String(Object.values(alex ?? assert.fail())[0])
    await finished(await scene.link('alex', { redirect_url: REDIRECT }), 0)
    const made = await connection()
    const accountId = made.accounts[0].account_id
    await order('before', accountId)
    await revoked(name)
    const requested = { connection_type: null, broker: null, redirect_url: REDIRECT, renew_connection_id: made.connection_id }

    const broken = await connection()
    const wrong = await finished(await scene.link('alex', requested), 1)
    assert.deepEqual([wrong.get('error'), wrong.get('connection_id')], ['400', null])
    assert.match(wrong.get('error_details') ?? '', /Another login/)
    assert.deepEqual(await connection(), broken)

    const link = await scene.link('alex', requested)
    const { html } = await new Browser().get(link)
    assert.match(html, /Renew your connection to/)
    assert.equal([...html.matchAll(/name="broker"/g)].length, 1, 'only its own broker is offered')
    const right = await finished(link, 0)
    assert.deepEqual([right.get('error'), right.get('connection_id')], [null, made.connection_id])
    const renewed = await connection()
    assert.deepEqual(
      [renewed.status, renewed.broken_code, renewed.connection_id, renewed.accounts, renewed.created_at],
      ['ACTIVE', null, made.connection_id, made.accounts, made.created_at]
    )
    await until(async () => (await connection()).health === 'live', 'its open order is followed again', PATIENCE_MS)
    assert.equal((await order('after', accountId)).normalized_status, 'working')
    const { data } = await json(`${scene.url}/orders?status=open`, scene.as('alex'))
    assert.ok(Array.isArray(data))
    assert.deepEqual(data.map(({ cl_order_id }) => cl_order_id).sort(), ['after', 'before'])
  })
})
