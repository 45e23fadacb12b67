// Connections keep to the environment they were made in, whatever the settings say later: every broker of the registry, through a restart.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ADAPTERS, openBrokers } from '@trunkline/brokers/registry'
import type { Store } from '@trunkline/core/ports/store'
import { until } from '@trunkline/testkit/until'
import { compose, type Service, type Wraps } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { PinoLog } from '../../src/ops/log.ts'
import { copyStore } from '../store/template.ts'
import { Browser, json } from './support.ts'

const BROKERS = ADAPTERS.map(({ capabilities }) => capabilities.id)
const LIVE = { environment: 'live', host: 'api.live.example' } as const
const PATIENCE_MS = 90_000
const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

interface Run {
  readonly service: Service
  readonly store: Store
  readonly log: () => string
}

describe('connections made in the sandbox', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkline-environments-'))
  const requested: string[] = []
  /** Stands for the live hosts of all brokers: notes whatever arrives. */
  const recorder = createServer((request, reply) => {
    requested.push(`${request.method} ${request.url}`)
    reply.writeHead(500).end()
  }).on('upgrade', (request, socket) => {
    requested.push(`upgrade ${request.url}`)
    socket.destroy()
  })
  let run: Run
  let user: Readonly<Record<string, string>>
  let removed = ''

  before(async () => {
    await new Promise<void>(resolve => recorder.listen(0, '127.0.0.1', resolve))
    await copyStore(join(dataDir, 'database'))
    run = await start()
    const { demo } = run.service.demo ?? assert.fail('a first start makes a demo platform')
    const platform = { 'client-id': demo.client_id, 'client-secret': demo.client_secret }
    const made = await json(`${run.service.url}/users`, platform, { user_id: 'alex' })
    user = { ...platform, 'user-id': 'alex', 'user-secret': String(made['user-secret']) }
    for (const broker of [...BROKERS, 'SANDBOX']) {
      const { authorization_url: link } = await json(`${run.service.url}/connections`, user, { connection_type: 'trade', broker })
      const browser = new Browser()
      const ended = await browser.get(await browser.logIn(await browser.approve(String(link), broker), demo))
      assert.equal(ended.location, `${run.service.url}/connect/result/connected`, broker)
    }
    for (const { account_id, broker } of await firstAccounts()) {
      const order = { account_id, broker, cl_order_id: `rests-${broker}`, side: 'BUY', order_type: 'LMT', order_tif: 'GTC', symbol: 'SPY' }
      await json(`${run.service.url}/orders`, user, { ...order, order_qty: '1', order_limit_price: '1.00' })
    }
    const [last] = await rows('/connections')
    removed = String(last?.connection_id)
    await fetch(`${run.service.url}/connections/${removed}`, { method: 'DELETE', headers: user })
    await run.service.stop()
  })
  after(async () => {
    await run.service.stop()
    recorder.close().closeAllConnections()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function start(env: Readonly<Record<string, string>> = {}, wraps: Wraps = {}): Promise<Run> {
    const lines: string[] = []
    let store: Store | null = null
    const keep = (opened: Store) => {
      store = opened
      return opened
    }
    const settings = settingsOf({ TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: dataDir, ...env })
    const log = new PinoLog('info', { write: line => void lines.push(line) })
    const service = await compose(settings, log, env, { ...wraps, store: keep })
    return { service, store: store ?? assert.fail('no store was opened'), log: () => lines.join('') }
  }

  async function rows(path: string): Promise<readonly Record<string, unknown>[]> {
    const answer: unknown = await (await fetch(`${run.service.url}${path}`, { headers: user })).json()
    assert.ok(Array.isArray(answer), JSON.stringify(answer))
    return answer
  }

  /** One account of each broker. */
  async function firstAccounts(): Promise<readonly { readonly account_id: string; readonly broker: string }[]> {
    const all = await rows('/accounts')
    return BROKERS.map(broker => {
      const found = all.find(account => account.broker === broker) ?? assert.fail(`${broker} has no account`)
      return { account_id: String(found.account_id), broker }
    })
  }

  const revocationsOf = async () => (await run.store.connections.dueRevocations(new SystemClock().now(), 10)).map(due => due.attempts)

  test('are BROKEN when the service goes live, and nothing is sent there for them: no read, no order, no revocation [S24]', async () => {
    const { port } = recorder.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const sandbox = { url, publicUrl: url, clientId: 'us', clientSecret: 'secret', hours: 'always' } as const
    const offers = ADAPTERS.map(adapter => adapter.offer(env => adapter.settings.find(setting => setting.env === env)?.fallback ?? ''))
    const deps = { clock: new SystemClock(), fraction: () => 0.5, log: QUIET, meter: { count() {}, observe() {} } }
    await using live = openBrokers(offers, deps, sandbox)
    const brokers = new Map([...live].map(([id, definition]) => [id, { ...definition, ...LIVE }]))
    run = await start({ TRUNKLINE_SANDBOX_URL: url }, { brokers: () => brokers })

    const connections = await rows('/connections')
    assert.equal(connections.length, BROKERS.length)
    for (const { broker, status, broken_code, broken_reason, environment, health } of connections) {
      assert.deepEqual([status, broken_code, environment, health], ['BROKEN', 'environment_changed', 'sandbox', 'broken'], String(broker))
      assert.match(
        String(broken_reason),
        /made in the sandbox environment \(local\), and the service now uses the live environment \(api\.live/
      )
    }
    for (const { account_id, broker } of await firstAccounts()) {
      const order = { account_id, broker, cl_order_id: `never-${broker}`, side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol: 'SPY' }
      const headers = { ...user, 'content-type': 'application/json' }
      const answer = await fetch(`${run.service.url}/orders`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...order, order_qty: '1' })
      })
      assert.equal(answer.status, 409, broker)
    }
    for (const path of ['/balances', '/positions', '/orders'])
      assert.ok((await fetch(`${run.service.url}${path}`, { headers: user })).status < 500, path)
    await until(() => run.log().includes('a broker login could not be revoked yet'), 'the removed login was due', PATIENCE_MS)
    assert.deepEqual(requested, [])
    assert.ok(
      (await run.store.audit.list(100)).some(
        ({ action, detail }) => action === 'connection.suspend' && detail.is === 'live api.live.example'
      )
    )
    await run.service.stop()
  })

  test('are ACTIVE and complete again when the service returns, and the removed one is revoked there', async () => {
    run = await start()
    const connections = await rows('/connections')
    assert.deepEqual([...new Set(connections.map(({ status, broken_code }) => `${status} ${broken_code}`))], ['ACTIVE null'])
    const orders = await json(`${run.service.url}/orders?status=open`, user)
    assert.ok(Array.isArray(orders.data))
    assert.deepEqual(
      orders.data
        .map(order => String(order.cl_order_id))
        .filter(id => id.startsWith('rests-'))
        .sort(),
      BROKERS.map(broker => `rests-${broker}`).sort()
    )
    for (const { account_id, broker } of await firstAccounts()) {
      const order = { account_id, broker, cl_order_id: `again-${broker}`, side: 'BUY', order_type: 'LMT', order_tif: 'GTC', symbol: 'SPY' }
      await json(`${run.service.url}/orders`, user, { ...order, order_qty: '1', order_limit_price: '1.00' })
    }
    const working = async () => {
      const { data } = await json(`${run.service.url}/orders?status=working&limit=500`, user)
      return Array.isArray(data) && BROKERS.every(broker => data.some(order => order.cl_order_id === `again-${broker}`))
    }
    await until(working, 'an order works at each broker', PATIENCE_MS)
    await until(async () => (await revocationsOf()).length === 0 && (await pending()) === 0, 'the removed login is revoked', PATIENCE_MS)
    assert.deepEqual(requested, [])
  })

  /** Revocations that wait for another try. */
  async function pending(): Promise<number> {
    const items = await run.store.connections.sealedUnderOtherKeys('', 100)
    return items.filter(({ place, connectionId }) => place === 'revocation' && connectionId === removed).length
  }
})
