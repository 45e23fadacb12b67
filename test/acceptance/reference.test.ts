// The API's description of itself: linted by an outside tool, complete, and readable offline.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { passesLinter } from './linter.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** Every operation of the contract, and our own. */
const OPERATIONS = [
  'POST /users',
  'GET /users',
  'DELETE /users/{user_id}',
  'POST /users/{user_id}/rotate-secret',
  'POST /connections',
  'GET /connections',
  'GET /platform/connections',
  'DELETE /connections/{connection_id}',
  'POST /connections/{connection_id}/claim',
  'GET /connections/{connection_id}/token',
  'GET /accounts',
  'GET /balances',
  'GET /positions',
  'GET /transactions',
  'POST /orders',
  'POST /orders/preview',
  'GET /orders',
  'GET /orders/{order_id}',
  'GET /accounts/{account_id}/orders/{order_id}',
  'PATCH /accounts/{account_id}/orders/{order_id}',
  'DELETE /accounts/{account_id}/orders/{order_id}',
  'POST /orders/cancel',
  'GET /events',
  'POST /webhook-endpoints',
  'GET /webhook-endpoints',
  'GET /webhook-endpoints/{endpoint_id}',
  'PATCH /webhook-endpoints/{endpoint_id}',
  'DELETE /webhook-endpoints/{endpoint_id}',
  'POST /webhook-endpoints/{endpoint_id}/rotate-keys',
  'POST /webhook-endpoints/{endpoint_id}/test',
  'GET /webhook-endpoints/{endpoint_id}/deliveries',
  'GET /webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}',
  'POST /webhook-endpoints/{endpoint_id}/replay',
  'GET /brokers',
  'GET /connections/{connection_id}/market-data/symbols',
  'GET /connections/{connection_id}/market-data/expirations',
  'GET /connections/{connection_id}/market-data/chain',
  'GET /connections/{connection_id}/market-data/quote',
  'GET /connections/{connection_id}/market-data/bars'
]

/** Every message of the broker stream: those of the contract, and our additions. */
const SENT_BY_CLIENT = ['authenticate', 'subscribe', 'subscribe_user', 'unsubscribe_user', 'ping']
const SENT_BY_SERVICE = [
  ...[
    'welcome',
    'auth_success',
    'auth_error',
    'subscribed',
    'subscription_failed',
    'user_subscribed',
    'user_unsubscribed',
    'pong',
    'error'
  ],
  ...['orders', 'positions', 'balances', 'caught_up', 'stream_status']
]

/** Every message of the market data stream; updates without a type by their channel. */
const MARKET_SENT_BY_CLIENT = ['authenticate', 'subscribe', 'list_subscriptions', 'unsubscribe', 'snapshot']
const MARKET_SENT_BY_SERVICE = [
  ...['auth_success', 'subscription_success', 'subscriptions_list', 'unsubscription_success', 'snapshot_response', 'error'],
  ...['bars', 'trades', 'quotes', 'depth_update', 'options_chain']
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

  test('says where it is served, and discloses no internals', () => {
    assert.equal(document.openapi, '3.1.0')
    assert.equal(document.servers[0].url, service.url)
    assert.ok(!JSON.stringify(document).includes('x-expected'))
  })

  test('passes an independent linter', () => passesLinter(document))

  test('is a self-contained page, which shows everything without its script', async () => {
    const response = await fetch(`${service.url}/docs`)
    const html = await response.text()
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe'), policy)
    assert.deepEqual(html.match(/<script[^>]*>/gi), ['<script type="module" src="/docs/client/main.js">'])
    assert.ok(!/<iframe|\son\w+=|style="|javascript:/i.test(html))
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
    const commands = [...html.matchAll(/data-language="curl" tabindex="0"><code>([\s\S]*?)<\/code>/g)].map(([, text = '']) =>
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

  test('has a page for each error code that an operation can answer, with an example', async () => {
    const list = await (await fetch(`${service.url}/docs/errors`)).text()
    const codes = new Set(
      Object.values<Body>(document.components.responses).flatMap(({ content }) => Object.keys(content['application/json'].examples))
    )
    for (const code of codes) {
      assert.ok(list.includes(`href="/docs/errors/${code}"`), code)
      const page = await (await fetch(`${service.url}/docs/errors/${code}`)).text()
      assert.ok(page.includes(`&quot;code&quot;: &quot;${code}&quot;`), code)
    }
    assert.equal((await fetch(`${service.url}/docs/errors/no_such_code`)).status, 404)
  })

  test('is searched in what leads somewhere', async () => {
    const entries: Body = await (await fetch(`${service.url}/docs/search.json`)).json()
    const pages = new Map<string, string>()
    for (const { href } of entries) {
      const [path = '', id] = href.split('#')
      const page = pages.get(path) ?? (await (await fetch(service.url + path)).text())
      pages.set(path, page)
      assert.ok(id === undefined ? page.includes('<main') : page.includes(`id="${id}"`), href)
    }
    const titles = entries.map(({ title }: Body) => title)
    for (const title of ['Place an order', 'subscribe_user', 'order_not_open', 'When an answer is lost'])
      assert.ok(titles.includes(title), title)
  })

  test('is a collection for Postman, with every operation, an answer to each, and no secret', async () => {
    const collection: Body = await (await fetch(`${service.url}/postman.json`)).json()
    const requests: readonly Body[] = collection.item.flatMap(({ item }: Body) => item)
    const shown = requests.map(
      ({ request: { method, url } }) => `${method} ${url.raw.replace('{{base_url}}', '').replace(/:(\w+)/g, '{$1}')}`
    )
    assert.deepEqual(shown.sort(), OPERATIONS.toSorted())
    for (const { name, response } of requests) assert.notEqual(JSON.parse(response[0].body), null, name)
    assert.equal(collection.variable.find(({ key }: Body) => key === 'base_url').value, service.url)
    assert.ok(!JSON.stringify(collection).includes(service.demo.client_secret))
  })

  test('is there for language models as one text, with every guide as Markdown', async () => {
    const list = await (await fetch(`${service.url}/llms.txt`)).text()
    for (const [, address = ''] of list.matchAll(/\]\(([^)]+)\)/g)) assert.equal((await fetch(address)).status, 200, address)
    const all = await (await fetch(`${service.url}/llms-full.txt`)).text()
    for (const text of ['# Orders', '### Place an order', '- `order_not_open`']) assert.ok(all.includes(text), text)
  })

  test('returns 404 when it is disabled', async () => {
    await using quiet = await startService('embedded', { TRUNKLINE_DOCS: '0' })
    for (const path of [
      '/docs',
      '/docs/live',
      '/docs/live/main.js',
      '/openapi.json',
      '/asyncapi.json',
      '/docs/style.css',
      '/docs/errors',
      '/postman.json',
      '/llms.txt'
    ])
      assert.equal((await fetch(quiet.url + path)).status, 404, path)
  })
})

describe('the reference of the streams', () => {
  let service: RunningService
  let document: Body
  before(async () => {
    service = await startService('embedded')
    const response = await fetch(`${service.url}/asyncapi.json`)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), (await fetch(`${service.url}/openapi.json`)).headers.get('cache-control'))
    document = await response.json()
  })
  after(() => service[Symbol.asyncDispose]())

  test('is AsyncAPI 3.0, by the specification’s own schema', async () => {
    const official: Body = JSON.parse(await readFile(join(ROOT, 'node_modules/@asyncapi/specs/schemas/3.0.0-without-$id.json'), 'utf8'))
    const complaint = judge(official)
    assert.equal(document.asyncapi, '3.0.0')
    assert.equal(complaint(document), null)
    const wrong = { ...document, operations: { ping: { ...document.operations.ping, action: 'listen' } } }
    assert.match(String(complaint(wrong)), /operations\/ping\/action/, 'the schema judges something')
  })

  test('passes an independent linter', () => passesLinter(document))

  test('describes every message of the contract, each with an example that fits', () => {
    for (const [title, { name, examples }] of Object.entries<Message>(document.components.messages)) {
      const complaint = judge({ ...document, $ref: `#/components/messages/${title}/payload` })
      assert.ok(examples.length > 0, title)
      for (const { payload } of examples) {
        assert.equal(complaint(payload), null, title)
        if (UNTYPED.has(name)) assert.ok(!('type' in payload || 'action' in payload), title)
        else {
          assert.equal(payload.action ?? payload.type, name)
          assert.notEqual(complaint({ ...payload, action: 'nothing', type: 'nothing' }), null, title)
        }
        assert.notEqual(complaint({}), null, title)
      }
    }
    assert.deepEqual(namesOf('stream', 'sent'), SENT_BY_CLIENT.toSorted())
    assert.deepEqual(namesOf('stream', 'received'), SENT_BY_SERVICE.toSorted())
    assert.deepEqual(namesOf('market_data', 'sent'), MARKET_SENT_BY_CLIENT.toSorted())
    assert.deepEqual(namesOf('market_data', 'received'), MARKET_SENT_BY_SERVICE.toSorted())
  })

  test('says who sends what, and what answers it', () => {
    assert.deepEqual(answersOn('stream'), {
      authenticate: ['auth_success', 'auth_error'],
      subscribe: ['subscribed', 'subscription_failed'],
      subscribe_user: ['user_subscribed', 'caught_up', 'subscription_failed'],
      unsubscribe_user: ['user_unsubscribed'],
      ping: ['pong']
    })
    assert.deepEqual(answersOn('market_data'), {
      authenticate: ['auth_success', 'error'],
      subscribe: ['subscription_success', 'error'],
      list_subscriptions: ['subscriptions_list', 'error'],
      unsubscribe: ['unsubscription_success', 'error'],
      snapshot: ['snapshot_response', 'error']
    })
    for (const term of ['welcome', 'orders', 'positions', 'balances', 'stream_status', 'user_unsubscribed', 'error']) {
      assert.ok(sentOn('stream').includes(term), term)
    }
    for (const term of ['bars', 'trades', 'quotes', 'depth_update', 'options_chain', 'error']) {
      assert.ok(sentOn('market_data').includes(term), term)
    }
  })

  test('says where each stream is, how to authenticate, and how sessions end', async () => {
    for (const { id, url, security, type, terms } of [
      {
        ...{ id: 'stream', url: service.demo.stream_url, security: 'platform', type: 'userPassword' },
        terms: ['4001', '4008', '1001', '1009', '4029', '64 KiB', '500', '10,000']
      },
      {
        ...{ id: 'market_data', url: service.demo.market_data_stream_url, security: 'accessToken', type: 'apiKey' },
        terms: ['4001', '4003', '4008', '1001', '1009', '4029', '16 KiB', '500', '50,000', '`broker_unavailable`', '`unsupported_symbol`']
      }
    ]) {
      const [channel, server] = [document.channels[id], document.servers[id]]
      assert.deepEqual(channel.servers, [{ $ref: `#/servers/${id}` }])
      assert.equal(`${server.protocol}://${server.host}${channel.address}`, url)
      assert.deepEqual(server.security, [{ $ref: `#/components/securitySchemes/${security}` }])
      assert.equal(document.components.securitySchemes[security].type, type)
      for (const term of terms) assert.ok(channel.description.includes(term), `${id}: ${term}`)
    }
    assert.ok(!JSON.stringify(document).includes('x-expected'))
  })

  for (const { id, file, codes, limits } of [
    { id: 'stream', file: 'docs/guides/stream.md', codes: 5, limits: 10 },
    { id: 'market_data', file: 'docs/guides/market-data.md', codes: 6, limits: 12 }
  ]) {
    test(`says the same numbers as ${file}`, async () => {
      const guide = await readFile(join(ROOT, file), 'utf8')
      const rows = [...document.channels[id].description.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(
        ([, first = '', second = '']) => ({ first, second })
      )
      const ofCodes = rows.filter(({ first }) => /^(?:\d{4}|`\w+`)$/.test(first))
      const ofLimits = rows.filter(({ second }) => /^\d/.test(second))
      assert.ok(ofCodes.length >= codes && ofLimits.length >= limits, JSON.stringify(rows))
      for (const { first } of ofCodes) assert.ok(guide.includes(`\n| ${first} |`), first)
      for (const { first, second } of ofLimits) assert.ok(guide.includes(`| ${second}`), `${first}: ${second}`)
    })
  }

  test('is on the page, every message under its name', async () => {
    const html = await (await fetch(`${service.url}/docs`)).text()
    for (const [title, { name }] of Object.entries<Message>(document.components.messages)) {
      assert.ok(html.includes(`<li><a href="#${title}">${name}</a></li>`), title)
      assert.ok(html.includes(`<article id="${title}"`), title)
    }
    for (const url of [service.demo.stream_url, service.demo.market_data_stream_url]) assert.ok(html.includes(url), url)
  })

  function operationsOn(channel: string, action: 'receive' | 'send'): readonly Body[] {
    const address = `#/channels/${channel}`
    return Object.values<Body>(document.operations).filter(one => one.channel.$ref === address && one.action === action)
  }

  function messageNames(references: readonly Body[]): readonly string[] {
    return references.map(({ $ref }) => document.components.messages[$ref.split('/').at(-1)].name)
  }

  function answersOn(channel: string): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(
      operationsOn(channel, 'receive').map(one => [String(messageNames(one.messages)[0]), messageNames(one.reply.messages)] as const)
    )
  }

  function sentOn(channel: string): readonly string[] {
    return operationsOn(channel, 'send').flatMap(one => messageNames(one.messages))
  }

  /** Names of a channel's messages, of those that clients send or of the others. */
  function namesOf(channel: string, way: 'sent' | 'received'): readonly string[] {
    const sent = new Set(Object.keys(answersOn(channel)))
    const names = messageNames(Object.values<Body>(document.channels[channel].messages))
    return names.filter(name => sent.has(name) === (way === 'sent')).sort()
  }
})

/** Updates of the market data stream that are distinguished by their `sub_id` only. */
const UNTYPED: ReadonlySet<string> = new Set(['bars', 'trades', 'quotes', 'options_chain'])

interface Message {
  readonly name: string
  readonly examples: readonly { readonly payload: Body }[]
}

/** Gives what is wrong with a value, in the eyes of a JSON schema; null for nothing. */
function judge(schema: Body): (value: unknown) => string | null {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
  addFormats.default(ajv)
  const isFit = ajv.compile(schema)
  return value => (isFit(value) ? null : JSON.stringify(isFit.errors))
}
