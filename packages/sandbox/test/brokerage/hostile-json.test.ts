// Hostile JSON at every input of the sandbox: its REST API, its control API, its streams and those of its dialects. None may end it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { HOSTILE_JSON } from '@trunkline/testkit/hostile-json'
import { WebSocket } from 'ws'
import { startBrokerage } from '../../src/brokerage/start.ts'
import { DIALECTS } from '../../src/dialects/index.ts'
import { Customer, REDIRECT, SECRET, send } from './support.ts'

const PATIENCE_MS = 60_000

/** Sends frames to a separate session, and waits until all were read or the session was ended. */
async function exchange(url: string, frames: readonly string[]): Promise<void> {
  const socket = new WebSocket(url)
  socket.on('error', () => undefined)
  try {
    const over = once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) })
    await Promise.race([once(socket, 'open'), over])
    for (const frame of frames) socket.send(frame)
    const pong = once(socket, 'pong', { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => over)
    if (socket.readyState === WebSocket.OPEN) socket.ping()
    await Promise.race([pong, over])
  } finally {
    socket.terminate()
  }
}

test('no JSON that is sent to the sandbox makes it fail [S66, S67, S74]', async () => {
  const errors: unknown[] = []
  const parts = { clientSecret: SECRET, redirectUris: [REDIRECT], heartbeatMs: 100 }
  await using brokerage = await startBrokerage(parts, { onError: error => errors.push(error) }, DIALECTS)
  const customer = await Customer.of(brokerage)
  const streams = [
    brokerage.streamUrl,
    brokerage.marketStreamUrl,
    ...['/alpaca/api/stream', '/alpaca/data-stream/v2/iex', '/tradier/ws/v1/accounts/events', '/tradier/ws/v1/markets/events'].map(
      path => brokerage.url.replace(/^http/, 'ws') + path
    )
  ]
  for (const { what, text } of HOSTILE_JSON) {
    const answers = [
      await customer.call('POST', '/orders', text),
      await customer.call('POST', '/orders', `{"account":${text},"symbol":${text},"legs":[${text}]}`),
      await send(`${brokerage.url}/alpaca/api/v2/orders`, 'POST', `{"symbol":${text}}`, { authorization: `Bearer ${customer.token}` }),
      await send(`${brokerage.url}/tradestation/v3/orderexecution/orders`, 'POST', `{"Symbol":${text}}`),
      await send(`${brokerage.controlUrl}/faults`, 'POST', `{"operation":${text}}`),
      await send(`${brokerage.controlUrl}/logins`, 'POST', text)
    ]
    for (const [index, { status, text: answer }] of answers.entries())
      assert.ok(status >= 400 && status < 500, `${what}, answer ${index}: ${status} ${answer.slice(0, 200)}`)
    const frames = [
      `{"op":"ping","n":${text}}`,
      `{"op":"login","token":${text}}`,
      `{"op":${text}}`,
      `{"action":"auth","key":${text}}`,
      `{"sessionid":${text}}`,
      text
    ]
    for (const url of streams) for (const frame of frames) await exchange(url, [frame])
  }
  assert.equal((await customer.call('GET', '/accounts')).status, 200)
  assert.deepEqual(errors, [])
})
