// What a passer-by can see of the service from its public port: as little as there is to see.
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { METRICS_TOKEN, metricsPage } from '@trunkline/testkit/metrics'
import type { Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'

/** A request, with what is asked for and what differs between two answers left out. */
async function seen(url: string, path: string, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url + path, init)
  const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id', 'keep-alive', 'content-length'].includes(name))
  const body = (await answer.text()).replace(/"request_id":"[^"]*"/, '')
  return JSON.stringify([answer.status, headers, body])
}

describe('what is seen from outside', () => {
  let service: RunningService
  before(async () => {
    service = await startService('embedded')
  })
  after(() => service[Symbol.asyncDispose]())

  test('the metrics are for the holder of the token; to others there is nothing at their address [S84]', async () => {
    assert.match(await metricsPage(service.url), /^trunkline_orders_unresolved 0$/m)
    const nothing = await seen(service.url, '/nowhere')
    const spoilt = `${METRICS_TOKEN.slice(0, -1)}!`
    for (const authorization of ['', 'Bearer', `Bearer ${spoilt}`, `Bearer ${METRICS_TOKEN}x`, `bearer ${METRICS_TOKEN}`, METRICS_TOKEN])
      assert.equal(await seen(service.url, '/metrics', { headers: { authorization } }), nothing, authorization)
    for (const path of ['/metrics?token=x', '/metrics/', '/v1/metrics']) assert.equal(await seen(service.url, path), nothing, path)
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'HEAD'])
      assert.equal(await seen(service.url, '/metrics', { method }), await seen(service.url, '/nowhere', { method }), method)
  })

  test('nothing of the inside is served: no debugger, no repository, no source maps, no files beside the data [S84]', async () => {
    const nothing = await seen(service.url, '/nowhere')
    const paths = ['/debug', '/debug/pprof', '/json/list', '/.git/config', '/.env', '/package.json', '/server-status', '/admin', '/status']
    const files = ['/demo-platform.json', '/metrics-token', '/master-keys', '/docs/../package.json', '/docs/live/..%2f..%2findex.ts']
    const maps = ['/docs/live/main.js.map', '/docs/live/lightweight-charts.js.map', '/docs/style.css.map', '/home.css.map']
    for (const path of [...paths, ...files, ...maps]) assert.equal(await seen(service.url, path), nothing, path)
    for (const script of ['/docs/live/main.js', '/docs/live/lightweight-charts.js'])
      assert.ok(!(await (await fetch(service.url + script)).text()).includes('sourceMappingURL'), script)
  })

  test('an address that nothing serves is a page to a browser, and JSON to a program', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
    for (const path of ['/nowhere', '/metrics', '/docs/nowhere?<script>']) {
      const page = await fetch(service.url + path, { headers: browser })
      const html = await page.text()
      assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
      // The page of the documentation has its own scripts, from files.
      const own = html.replaceAll(/<script type="module" src="\/[\w./-]+"><\/script>/g, '')
      assert.ok(html.startsWith('<!doctype html>') && !html.includes('nowhere') && !own.includes('script>'), path)
    }
    for (const init of [{}, { headers: { accept: 'application/json' } }, { method: 'POST', headers: browser }]) {
      const answer = await fetch(`${service.url}/nowhere`, init)
      const body: Body = await answer.json()
      assert.deepEqual([answer.status, body.code], [404, 'route_not_found'])
    }
  })

  test('where there is GET there is HEAD, with the same headers and no body; never where a GET makes something', async () => {
    const platform = { 'client-id': service.demo.client_id, 'client-secret': service.demo.client_secret }
    for (const path of ['/users', '/brokers', '/docs', '/openapi.json', '/healthz']) {
      const headers = { ...platform, 'accept-encoding': 'identity' }
      const [get, head] = [await fetch(service.url + path, { headers }), await fetch(service.url + path, { headers, method: 'HEAD' })]
      assert.deepEqual([head.status, await head.text()], [200, ''], path)
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(await get.text())), path)
      assert.equal(head.headers.get('content-type'), get.headers.get('content-type'), path)
    }
    assert.equal((await fetch(`${service.url}/users`, { method: 'HEAD' })).status, 401)
    const token = await fetch(`${service.url}/connections/x/token`, { method: 'HEAD', headers: platform })
    assert.deepEqual([token.status, token.headers.get('allow')], [405, 'GET'])
  })

  test('health is one word, and nothing of versions, names and numbers [S84]', async () => {
    for (const [path, expected] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready']
    ] as const) {
      const answer = await fetch(service.url + path)
      assert.deepEqual(await answer.json(), { status: expected })
      for (const header of ['server', 'x-powered-by', 'via', 'etag']) assert.equal(answer.headers.get(header), null, header)
    }
  })

  test('a flood of health checks of one address is refused, and costs its orders nothing', async () => {
    const flood = async (): Promise<readonly number[]> => {
      const statuses: number[] = []
      for (let at = 0; at < 50; at++) {
        const answer = await fetch(`${service.url}/healthz`)
        await answer.body?.cancel()
        statuses.push(answer.status)
      }
      return statuses
    }
    const statuses = (await Promise.all(Array.from({ length: 20 }, flood))).flat()
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
    const platform = { 'client-id': service.demo.client_id, 'client-secret': service.demo.client_secret }
    assert.equal((await fetch(`${service.url}/users`, { headers: platform })).status, 200)
    assert.equal((await fetch(`${service.url}/docs`)).status, 200, 'pages are counted apart')
  })
})

test('without a setting the token is made, and lies in the data directory for its user alone', async () => {
  await using service = await startService('embedded', { TRUNKLINE_METRICS_TOKEN: '' })
  const path = join(service.dataDir, 'metrics-token')
  const token = (await readFile(path, 'utf8')).trim()
  assert.match(token, /^mt_[A-Za-z0-9_-]{43}$/)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.ok(!service.output().includes(token))
  assert.equal((await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status, 200)
})

test('with a port of their own the metrics are off the public one', async () => {
  await using service = await startService('embedded', { TRUNKLINE_METRICS_PORT: '0' })
  const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  assert.equal(answer.status, 404)
})
