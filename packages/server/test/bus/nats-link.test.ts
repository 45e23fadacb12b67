/** Connecting to a server that takes connections and does not keep them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Log } from '@trunkline/core/ports/log'
import { until } from '@trunkline/testkit/until'
import { LINK_LIMITS, NatsLink } from '../../src/bus/nats-link.ts'
import { parseNatsServers } from '../../src/config/nats-servers.ts'
import { SystemClock } from '../../src/ops/clock.ts'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
const INFO = { server_id: 'x', version: '2.10.0', go: 'go1', host: '127.0.0.1', port: 1, headers: true, max_payload: 1_048_576, proto: 1 }

/** A server that drops each connection instead of answering after so many answers. */
async function dropping(answers: number) {
  let connects = 0
  const server = createServer(socket => {
    connects += 1
    let left = answers
    socket.on('error', () => undefined)
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`)
    socket.on('data', data => {
      for (let pings = data.toString().split('PING').length - 1; pings > 0; pings -= 1) {
        left -= 1
        if (left >= 0) socket.write('PONG\r\n')
        else socket.destroy()
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return {
    url: `nats://127.0.0.1:${address.port}`,
    connects: () => connects,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    }
  }
}

for (const [what, answers] of [
  ['drops connections before they are confirmed', 1],
  ['confirms connections and drops them at once', 2]
] as const)
  test(`a server that ${what} is dialled with growing pauses`, async () => {
    await using server = await dropping(answers)
    const clock = new SystemClock()
    const pauses: number[] = []
    const reconnect = { firstMs: 1, longestMs: 8 }
    const limits = { ...LINK_LIMITS, heartbeatMs: answers === 1 ? 60_000 : 20, stalledMs: 60_000, reconnect }
    const sleep = (ms: number, signal?: AbortSignal) => {
      if (ms <= reconnect.longestMs) pauses.push(ms)
      return clock.sleep(ms, signal)
    }
    const link = new NatsLink(
      { servers: parseNatsServers(server.url), credentialsFile: null, caFile: null, name: 'test', limits },
      { clock: { sleep }, ids: { fraction: () => 1 }, log: silent },
      { message: () => undefined, connected: () => undefined }
    )
    link.start()
    await until(() => server.connects() >= 6, 'it was dialled again')
    await link.stop()
    assert.deepEqual(pauses.slice(0, 5), [1, 2, 4, 8, 8])
  })
