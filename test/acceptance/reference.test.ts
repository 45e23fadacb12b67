// The API's description of itself: linted by an outside tool, complete, and readable offline.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** Every operation of the contract, and our one addition. */
const OPERATIONS = [
  'POST /users',
  'GET /users',
  'DELETE /users/{user_id}',
  'POST /users/{user_id}/rotate-secret',
  'POST /connections',
  'GET /connections',
  'GET /platform/connections',
  'DELETE /connections/{connection_id}',
  'GET /connections/{connection_id}/token',
  'GET /accounts',
  'GET /balances',
  'GET /positions',
  'GET /transactions',
  'POST /orders',
  'GET /orders',
  'PATCH /accounts/{account_id}/orders/{order_id}',
  'DELETE /accounts/{account_id}/orders/{order_id}',
  'GET /brokers'
]

describe('the reference', () => {
  let service: RunningService
  let document: Body
  before(async () => {
    service = await startService('embedded')
    document = await (await fetch(`${service.url}/openapi.json`)).json()
  })
  after(() => service[Symbol.asyncDispose]())

  test('describes every operation of the contract', () => {
    const described = Object.entries<Body>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`)
    )
    assert.deepEqual(described.sort(), OPERATIONS.toSorted())
  })

  test('says where it is served, and shows nothing of the inside', () => {
    assert.equal(document.openapi, '3.1.0')
    assert.equal(document.servers[0].url, service.url)
    assert.ok(!JSON.stringify(document).includes('x-expected'))
  })

  test('passes an independent linter', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-openapi-'))
    try {
      const file = join(folder, 'openapi.json')
      await writeFile(file, JSON.stringify(document))
      const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js')
      const args = [cli, 'lint', file, '--config', join(ROOT, 'test/acceptance/redocly.yaml'), '--format', 'json']
      const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' }
      const { stdout } = await run(process.execPath, args, { env, cwd: folder, maxBuffer: 8_000_000 }).catch(error => error)
      const { totals, problems } = JSON.parse(stdout)
      assert.deepEqual([totals.errors, totals.warnings], [0, 0], JSON.stringify(problems, null, 1).slice(0, 4_000))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('is a page that needs nobody else, no script, and lets in none', async () => {
    const response = await fetch(`${service.url}/docs`)
    const html = await response.text()
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe'), policy)
    assert.ok(!/<script|<iframe|\son\w+=|style="|javascript:/i.test(html))
    for (const [, target = ''] of html.matchAll(/\b(?:src|href)="([^"#][^"]*)"/g)) {
      assert.ok(target.startsWith('/') && !target.startsWith('//'), target)
      assert.equal((await fetch(service.url + target)).status, 200, target)
    }
    const ids = new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id))
    for (const [, id] of html.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.has(id), `#${id} leads nowhere`)
    for (const methods of Object.values<Body>(document.paths)) {
      for (const { operationId } of Object.values<Body>(methods)) assert.ok(ids.has(operationId), operationId)
    }
  })

  test('shows commands that work when pasted', async () => {
    const html = await (await fetch(`${service.url}/docs`)).text()
    const commands = [...html.matchAll(/<pre tabindex="0"><code>([\s\S]*?)<\/code>/g)].map(([, text = '']) =>
      text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
    )
    assert.equal(commands.length, OPERATIONS.length)
    const command = commands.find(text => text.includes("/brokers'")) ?? assert.fail('no command for /brokers')
    const { client_id, client_secret } = service.demo
    const { stdout } = await run('sh', ['-c', `${command} -s`], {
      env: { PATH: process.env.PATH, CLIENT_ID: client_id, CLIENT_SECRET: client_secret }
    })
    assert.equal(JSON.parse(stdout)[0].broker, 'SANDBOX')
  })

  test('is gone where it is switched off', async () => {
    await using quiet = await startService('embedded', { TRUNKLINE_DOCS: '0' })
    for (const path of ['/docs', '/openapi.json', '/docs/style.css']) assert.equal((await fetch(quiet.url + path)).status, 404, path)
  })
})
