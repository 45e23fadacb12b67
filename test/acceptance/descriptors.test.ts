// The service under a low limit of descriptors: connections that do nothing take none that orders need, now or afterwards.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Api, type User } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { link } from './linking.ts'

const OPEN_FILES_MAX = 256
const IDLE = 320

describe('a limit of 256 open files', () => {
  let service: RunningService
  let api: Api
  let ada: User
  let accountId: string
  let orders = 0
  before(async () => {
    service = await startService('embedded', {}, undefined, OPEN_FILES_MAX)
    api = await Api.of(service)
    ada = await api.user('ada')
    await link(api, ada)
    accountId = (await api.call('GET', '/accounts', { headers: api.as(ada) })).body[0].account_id
  })
  after(() => service[Symbol.asyncDispose]())

  const ordered = async (): Promise<number> => {
    const ticket = { account_id: accountId, broker: 'SANDBOX', side: 'BUY', symbol: 'AAPL', order_qty: '1' }
    const body = { ...ticket, order_type: 'LMT', order_tif: 'GTC', order_limit_price: '1.00', cl_order_id: `low-${++orders}` }
    const { status, text } = await api.call('POST', '/orders', { headers: api.as(ada), body })
    assert.equal(status, 201, text)
    return status
  }

  test('more idle connections than descriptors: orders are stored meanwhile and afterwards, and it stays ready [S47]', async () => {
    const { hostname, port } = new URL(service.url)
    const idle: Socket[] = []
    for (let count = 0; count < IDLE; count++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined)
      idle.push(socket)
      await once(socket, 'connect')
      if (count % 40 === 0) await ordered()
    }
    for (let count = 0; count < 20; count++) await ordered()
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
    for (const socket of idle) socket.destroy()
    for (let count = 0; count < 20; count++) await ordered()
    assert.ok(service.isRunning())
    assert.match(service.output(), /"connectionsMax":128/)
  })
})
