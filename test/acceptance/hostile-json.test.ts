// Hostile JSON at every entry of the service: it is refused, nothing else notices, and the process lives on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HOSTILE_JSON, type HostileJson } from '@trunkline/testkit/hostile-json'
import { WebSocket } from 'ws'
import { begin, link } from './linking.ts'
import type { StreamClient } from './stream-client.ts'
import { Stage } from './stream-stage.ts'

const PATIENCE_MS = 60_000
/** Message too big, too many failed authentications: what a hostile frame may be answered with besides an error. */
const DECENT_CODES: ReadonlySet<number> = new Set([1009, 4029])

/** Sends one hostile text in. Throws when it is not refused decently. */
type Entry = (hostile: HostileJson) => Promise<void>

describe('hostile JSON at every entry', () => {
  let stage: Stage
  let neighbour: StreamClient
  let userHeaders: Readonly<Record<string, string>>
  let connectionId: string
  let authorizationUrl: string
  before(async () => {
    stage = await Stage.open('embedded')
    const user = await stage.api.user('ada')
    userHeaders = stage.api.as(user)
    connectionId = await link(stage.api, user)
    authorizationUrl = await begin(stage.api, user, { connection_type: 'trade', broker: 'SANDBOX' })
    neighbour = await stage.session(['all'])
  })
  after(async () => {
    await neighbour?.close()
    await stage[Symbol.asyncDispose]()
  })

  const refusedByRest = async (method: string, address: string, body: string, type = 'application/json'): Promise<void> => {
    const url = address.startsWith('http') ? address : stage.service.url + address
    const response = await fetch(url, { method, headers: { ...userHeaders, 'content-type': type }, body, redirect: 'manual' })
    assert.ok(response.status >= 400 && response.status < 500, `${method} ${address}: ${response.status}`)
    assert.ok((await response.text()).length < 20_000)
  }

  /** A session of its own: answers are errors, or it ends as it should. */
  const readAll = async (url: string, frames: readonly string[]): Promise<void> => {
    const socket = new WebSocket(url)
    const replies: string[] = []
    socket.on('message', data => replies.push(String(data)))
    socket.on('error', () => undefined)
    try {
      const over = once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) })
      await Promise.race([once(socket, 'open'), over])
      for (const frame of frames) socket.send(frame)
      // The server answers a ping after everything before it.
      const pong = once(socket, 'pong', { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => over)
      if (socket.readyState === WebSocket.OPEN) socket.ping()
      const [code] = await Promise.race([pong, over])
      if (typeof code === 'number') assert.ok(DECENT_CODES.has(code), `the session ended with ${code}`)
      for (const reply of replies) assert.ok(reply.length < 2_000, reply.slice(0, 200))
    } finally {
      socket.terminate()
    }
  }

  const onBrokerStream =
    (isKnown: boolean): Entry =>
    ({ text }) => {
      const frames = [
        `{"action":"ping","seq":${text}}`,
        `{"action":"subscribe","topics":${text}}`,
        `{"action":"subscribe","topics":[${text}]}`,
        `{"action":"subscribe_user","user_id":${text}}`,
        `{"action":"subscribe_user","user_id":"ada","after":${text}}`,
        `{"action":"unsubscribe_user","user_id":${text}}`,
        `{"action":${text}}`,
        `{"action":"authenticate","client_id":${text},"client_secret":"sk"}`,
        `{"action":"authenticate","client_id":"pk","client_secret":"sk","version":${text}}`,
        `{"action":"authenticate","client_id":"pk","client_secret":"sk","extensions":[${text}]}`,
        text
      ]
      const authenticate = JSON.stringify({ action: 'authenticate', ...stage.credentials })
      return readAll(stage.service.demo.stream_url, isKnown ? [authenticate, ...frames] : frames)
    }

  const onMarketStream =
    (isKnown: boolean): Entry =>
    async ({ text }) => {
      const frames = [
        `{"action":"authenticate","request_id":"r","access_token":${text}}`,
        `{"action":"authenticate","request_id":"r","access_token":"mdt","version":${text}}`,
        `{"action":"subscribe","request_id":${text}}`,
        `{"action":${text},"request_id":"r"}`,
        ...['channel', 'symbol', 'interval', 'session', 'backfill_nbars', 'n_levels', 'greeks', 'expiration'].map(
          field => `{"action":"subscribe","request_id":"r","channel":"bars","symbol":"SPY","interval":"1m","${field}":${text}}`
        ),
        `{"action":"unsubscribe","request_id":"r","sub_id":${text}}`,
        `{"action":"snapshot","request_id":"r","symbol":"SPY","data_type":"bars","interval":"1m","start_time":${text}}`,
        text
      ]
      const { body } = await stage.api.call('GET', `/connections/${connectionId}/token`, { headers: userHeaders })
      const known = JSON.stringify({ action: 'authenticate', request_id: 'a', access_token: body.access_token })
      await readAll(stage.service.demo.market_data_stream_url, isKnown ? [known, ...frames] : frames)
    }

  const onAdminSocket: Entry = async ({ text }) => {
    for (const body of [text, `{"by":"tester","input":${text}}`, `{"by":${text}}`]) {
      const socketPath = relative(process.cwd(), join(stage.service.dataDir, 'admin.sock'))
      const outgoing = request({ socketPath, method: 'POST', path: '/platform.create' })
      outgoing.on('error', () => undefined)
      outgoing.end(body)
      const [response]: IncomingMessage[] = await once(outgoing, 'response', { signal: AbortSignal.timeout(PATIENCE_MS) })
      const answer = (await response?.setEncoding('utf8').toArray())?.join('') ?? ''
      assert.match(answer, /"refused"/)
    }
  }

  const ENTRIES: Readonly<Record<string, Entry>> = {
    'REST, a whole body': ({ text }) => refusedByRest('POST', '/users', text),
    'REST, a field': ({ text }) => refusedByRest('POST', '/users', `{"user_id":${text},"other":1}`),
    'REST, an order': ({ text }) => refusedByRest('POST', '/orders', `{"account_id":"a","cl_order_id":${text},"legs":[${text}]}`),
    'REST, a connection': ({ text }) => refusedByRest('POST', '/connections', `{"connection_type":${text},"broker":${text}}`),
    'REST, a query': ({ text }) => refusedByRest('DELETE', `/users?${encodeURIComponent(text.slice(0, 5_000))}`, ''),
    'the portal’s decision': ({ text }) => refusedByRest('POST', authorizationUrl, text),
    'the portal’s callback': async ({ text }) => {
      const query = new URLSearchParams({ state: text.slice(0, 5_000), code: text.slice(0, 5_000) })
      const response = await fetch(`${stage.service.url}/connect/callback/sandbox?${query}`, { redirect: 'manual' })
      assert.ok(response.status < 500, String(response.status))
    },
    'the broker stream, unauthenticated': onBrokerStream(false),
    'the broker stream, authenticated': onBrokerStream(true),
    'the market data stream, unauthenticated': onMarketStream(false),
    'the market data stream, authenticated': onMarketStream(true),
    'the administrators’ socket': onAdminSocket
  }

  for (const [name, entry] of Object.entries(ENTRIES)) {
    test(`${name} [S66, S67, S74]`, async () => {
      for (const hostile of HOSTILE_JSON) {
        await entry(hostile).catch(cause => {
          throw new Error(`${hostile.what}: ${cause}`, { cause })
        })
        assert.ok(stage.service.isRunning(), `${hostile.what} ended the service:\n${stage.service.output().slice(-2_000)}`)
      }
      await neighbour.quiet()
      assert.equal((await fetch(`${stage.service.url}/readyz`)).status, 200)
    })
  }

  test('nothing of it was an unexpected failure', () => {
    const errors = stage.service
      .output()
      .split('\n')
      .filter(line => line.startsWith('{"level":50') || line.startsWith('{"level":60'))
    assert.deepEqual(errors, [])
  })
})
