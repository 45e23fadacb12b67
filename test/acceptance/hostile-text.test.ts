// Text that a database cannot keep, at every entry of the service over PostgreSQL: it is bad input, and nothing of it is our failure.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { WebSocket } from 'ws'
import { begin, link } from './linking.ts'
import { Stage } from './stream-stage.ts'

const PATIENCE_MS = 60_000
const NUL = 'a\0b'
const HALF = 'a\ud800b'
const CONTROL = 'a\u0007\u001b[2Jb'
const HOSTILE = [NUL, HALF, CONTROL, '\0', 'x'.repeat(5_000)]
const MEGABYTE = 'x'.repeat(1_000_000)
/** As a query or a path carries it; half a character as the bytes that a careless encoder makes of it. */
const ENCODED = ['a%00b', 'a%ED%A0%80b', 'a%07%1B%5B2Jb', '%00', 'x'.repeat(5_000)]

interface Replies {
  readonly replies: readonly string[]
  readonly code: number | null
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: unknown; readonly required?: boolean }[]
  readonly fields: readonly string[]
}

describe('text that cannot be kept, at every entry', () => {
  let stage: Stage
  let headers: Readonly<Record<string, string>>
  let connectionId: string
  let linkUrl: string
  before(async () => {
    stage = await Stage.open('postgres')
    const user = await stage.api.user('ada')
    headers = stage.api.as(user)
    connectionId = await link(stage.api, user)
    linkUrl = await begin(stage.api, user, { connection_type: 'trade' })
  })
  after(() => stage[Symbol.asyncDispose]())

  const refused = async (what: string, address: string, init: RequestInit): Promise<void> => {
    const response = await fetch(address, { redirect: 'manual', ...init })
    const text = await response.text()
    assert.ok(response.status >= 400 && response.status < 500, `${what}: ${response.status} ${text.slice(0, 200)}`)
  }

  test('REST: every parameter and every field of every operation [S66]', async () => {
    const base = stage.service.url
    for (const { method, path, parameters, fields } of operationsOf(await (await fetch(`${base}/openapi.json`)).json())) {
      const known = parameters.filter(({ name }) => !Object.hasOwn(headers, name))
      for (const hostile of known.filter(parameter => parameter.in !== 'header'))
        for (const value of ENCODED) {
          const textOf = (parameter: Operation['parameters'][number]) =>
            parameter === hostile ? value : encodeURIComponent(String(parameter.example ?? 'x'))
          const at = known.filter(one => one.in === 'path').reduce((text, one) => text.replace(`{${one.name}}`, textOf(one)), path)
          const query = known
            .filter(one => one.in === 'query' && (one === hostile || one.required === true))
            .map(one => `${one.name}=${textOf(one)}`)
          const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }
          const init = { method, headers: { ...headers, 'content-type': 'application/json' }, ...body }
          await refused(`${method} ${path} ${hostile.name}=${value.slice(0, 20)}`, `${base}${at}?${query.join('&')}`, init)
        }
      for (const field of fields)
        for (const value of [...HOSTILE, MEGABYTE]) {
          const at = path.replaceAll(/\{\w+\}/g, connectionId)
          const init = { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ [field]: value }) }
          await refused(`${method} ${path} ${field} ${JSON.stringify(value.slice(0, 20))}`, `${base}${at}`, init)
        }
    }
    for (const name of ['client-id', 'client-secret', 'user-id', 'user-secret'])
      for (const value of ['a\u00ed\u00a0\u0080b', 'x'.repeat(10_000), '\u0080'])
        await refused(`${name} ${value.slice(0, 20)}`, `${base}/accounts`, { headers: { ...headers, [name]: value } })
  })

  /** What a session answers to frames sent one after the other, until it has sent so much or has ended, and with which code it ended. */
  const repliesTo = async (url: string, frames: readonly object[], count: number): Promise<Replies> => {
    const socket = new WebSocket(url)
    const replies: string[] = []
    let code: number | null = null
    socket.on('message', data => replies.push(String(data)))
    socket.on('close', given => (code = given))
    socket.on('error', () => undefined)
    try {
      await until(() => socket.readyState !== WebSocket.CONNECTING, 'the socket opens', PATIENCE_MS)
      for (const frame of frames) socket.send(JSON.stringify(frame))
      await until(() => replies.length >= count || code !== null, `${count} replies, or the end`, PATIENCE_MS)
      return { replies, code }
    } finally {
      socket.terminate()
    }
  }

  test('the broker stream: names that nobody can have are wrong credentials, counted as such, and end the session', async () => {
    const right = stage.credentials
    for (const field of ['client_id', 'client_secret'])
      for (const value of [...HOSTILE, '']) {
        const { replies, code } = await repliesTo(
          stage.service.demo.stream_url,
          Array.from({ length: 20 }, () => ({ action: 'authenticate', ...right, [field]: value })),
          Number.POSITIVE_INFINITY
        )
        const answers = replies.map(reply => JSON.parse(reply)).filter(({ type }) => type !== 'welcome')
        assert.deepEqual(
          answers,
          Array(5).fill({ type: 'auth_error', message: 'The client_id or the client_secret is wrong.' }),
          JSON.stringify([field, value.slice(0, 20)])
        )
        assert.equal(code, 4029)
      }
  })

  test('the broker stream: every other field', async () => {
    const known = { action: 'authenticate', ...stage.credentials }
    const frames = [...HOSTILE].flatMap(value => [
      { action: 'subscribe_user', user_id: value },
      { action: 'unsubscribe_user', user_id: value },
      { action: 'subscribe', topics: [value] },
      { action: value },
      { action: 'ping', seq: value }
    ])
    const { replies, code } = await repliesTo(stage.service.demo.stream_url, [known, ...frames], frames.length + 2)
    const types = replies.map(reply => JSON.parse(reply).type)
    assert.deepEqual(new Set(types.slice(2)), new Set(['subscription_failed', 'error']))
    assert.equal(types.length - 2, frames.length)
    assert.equal(code, null)
    assert.equal((await repliesTo(stage.service.demo.stream_url, [known, { action: 'subscribe_user', user_id: MEGABYTE }], 3)).code, 1009)
  })

  test('the market data stream: every field', async () => {
    const url = stage.service.demo.market_data_stream_url
    const { body } = await stage.api.call('GET', `/connections/${connectionId}/token`, { headers })
    const known = { action: 'authenticate', request_id: 'a', access_token: body.access_token }
    for (const value of HOSTILE) {
      const { replies } = await repliesTo(url, [{ ...known, access_token: value }], 1)
      assert.match(replies[0] ?? '', /auth_error/)
    }
    const fields = ['channel', 'symbol', 'interval', 'session', 'backfill_nbars', 'n_levels', 'greeks', 'expiration', 'sub_id', 'data_type']
    const frames = HOSTILE.flatMap(value => [
      ...['subscribe', 'snapshot', 'unsubscribe'].flatMap(action =>
        fields.map(field => ({ action, request_id: 'r', channel: 'bars', symbol: 'SPY', interval: '1m', [field]: value }))
      ),
      { action: value, request_id: 'r' },
      { action: 'snapshot', request_id: 'r', symbol: 'SPY', data_type: 'bars', interval: '1m', start_time: value, end_time: value }
    ])
    for (const some of Array.from({ length: Math.ceil(frames.length / 50) }, (_, at) => frames.slice(at * 50, at * 50 + 50))) {
      const { replies, code } = await repliesTo(url, [known, ...some], some.length + 1)
      assert.equal(code, null)
      for (const reply of replies) assert.doesNotMatch(reply, /internal_error|broker_unavailable/)
    }
  })

  test('the portal: addresses, forms and cookies', async () => {
    const base = stage.service.url
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: base, 'sec-fetch-site': 'same-origin' }
    for (const value of ENCODED.map(text => text.slice(0, 1_500))) {
      for (const at of [
        `/connect/${value}`,
        `/connect/callback/${value}?state=x&code=y`,
        `/connect/callback/sandbox?state=${value}&code=${value}`
      ])
        await refused(at, `${base}${at}`, {})
      await refused(`a cookie ${value}`, `${base}/connect/onward`, {
        headers: { cookie: `trunkline-portal=${value}; trunkline-portal-app=${value}` }
      })
      for (const field of ['broker', 'decision', 'key_id', 'secret_key'])
        await refused(`the form’s ${field}`, linkUrl, { method: 'POST', headers: form, body: `${field}=${value}` })
    }
    await refused('a form of a megabyte', linkUrl, { method: 'POST', headers: form, body: `broker=${MEGABYTE}` })
  })

  test('the administrators’ socket: every operation that takes text', async () => {
    const inputs: Readonly<Record<string, object>> = {
      'platform.create': { name: 'x', redirects: [], claims: false, color: '#000000', appUrl: 'https://app.example.com' },
      'platform.edit': { platform: 'x', name: 'x', color: '#000000', appUrl: 'https://app.example.com' },
      'platform.rotate_secret': { platform: 'x', overlapSeconds: 0 },
      'platform.disable': { platform: 'x' },
      'key.create': { platform: 'x', name: 'x', scopes: ['read'], addresses: [], expiresAt: null },
      'key.list': { platform: 'x' },
      'key.revoke': { key: 'x' },
      'user.disable': { platform: 'x', userId: 'x' },
      'orders.settle': { orderId: 'x', because: 'x', unseen: false },
      'orders.settle_all': { broker: 'x', connectionId: null, olderThanHours: 1, expected: null, because: 'x', unseen: false },
      'audit.verify': { kept: { position: 1, hash: 'x' } }
    }
    const socketPath = relative(process.cwd(), join(stage.service.dataDir, 'admin.sock'))
    for (const [name, input] of Object.entries(inputs))
      for (const field of Object.keys(input))
        for (const value of [...HOSTILE, 'x'.repeat(200_000)]) {
          const outgoing = request({ socketPath, method: 'POST', path: `/${name}` })
          outgoing.end(JSON.stringify({ by: 'tester', input: { ...input, [field]: value } }))
          const [response]: IncomingMessage[] = await once(outgoing, 'response', { signal: AbortSignal.timeout(PATIENCE_MS) })
          const answer = (await response?.setEncoding('utf8').toArray())?.join('') ?? ''
          assert.match(answer, /"refused"/, `${name} ${field} ${JSON.stringify(value.slice(0, 20))}`)
        }
  })

  test('nothing of it was taken for a failure of ours, and the log did not grow with it', () => {
    const output = stage.service.output()
    assert.deepEqual(
      output.split('\n').filter(line => /^\{"level":[56]0|unexpectedly|could not be|invalid byte sequence/.test(line)),
      []
    )
    assert.ok(output.length < 1_000_000, String(output.length))
  })
})

/** The operations of the reference, with those of their fields that a body may have. */
function operationsOf(reference: unknown): readonly Operation[] {
  const paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>> = Object(reference).paths
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      ['get', 'post', 'patch', 'put', 'delete'].includes(method)
        ? [{ method: method.toUpperCase(), path, parameters: Object(operation.parameters ?? []), fields: fieldsIn(operation.requestBody) }]
        : []
    )
  )
}

/** Names of properties anywhere in a schema. */
function fieldsIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.keys(Object(schema.properties)) : []
  return [...new Set([...own, ...Object.values(schema).flatMap(fieldsIn)])]
}
