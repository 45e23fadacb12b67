import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { WebSocket, WebSocketServer } from 'ws'
import { FlushScheduler } from '../../src/stream/flush-scheduler.ts'
import { SEND_BUFFER_LIMITS, type SendBufferLimits } from '../../src/stream/send-buffer-limits.ts'
import { SocketConnection, type SocketParts } from '../../src/stream/socket-connection.ts'

function partsWith(limits: SendBufferLimits, clock = new VirtualClock()): SocketParts {
  return { scheduler: new FlushScheduler(limits, () => 0), clock, limits, closed: () => undefined }
}

test('a ping in the midst of a long message is answered, and the message comes whole', async () => {
  const message = 'x'.repeat(16 * 1024 * 1024 - 100_000)
  const limits = { ...SEND_BUFFER_LIMITS, bytesMax: 2 * message.length }
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false })
  const received = Promise.withResolvers<void>()
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, ws => {
      const client = new SocketConnection(ws, socket, partsWith(limits))
      client.listen({ text: () => received.resolve(), binary() {}, caughtUp() {}, gone() {} }, cause => received.reject(cause))
      client.sendText(message)
      client.sendText('after')
    })
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    await once(client, 'open')
    client.pause()
    client.ping('are you there')
    client.send('the ping was read before this')
    await received.promise
    const events: string[] = []
    const done = Promise.withResolvers<void>()
    client.on('error', cause => done.reject(cause))
    client.on('pong', data => events.push(data.toString()))
    client.on('message', data => {
      const text = data.toString()
      events.push(text === message ? 'the message' : text.slice(0, 40))
      if (text === 'after') done.resolve()
    })
    client.resume()
    await done.promise
    assert.deepEqual(events.toSorted(), ['after', 'are you there', 'the message'])
  } finally {
    client.terminate()
    server.close()
  }
})

for (const [what, waitedMs, expected] of [
  ['reads on within four seconds receives the code that says so', 3_900, 4008],
  ['reads nothing for four seconds is cut off', 4_000, 1006]
] as const)
  test(`a reader that is too slow and ${what}`, async () => {
    const clock = new VirtualClock()
    const server = createServer()
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false })
    const opened = Promise.withResolvers<{ readonly ws: WebSocket; readonly client: SocketConnection }>()
    server.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, ws => {
        const client = new SocketConnection(ws, socket, partsWith({ ...SEND_BUFFER_LIMITS, bytesMax: 1_000_000 }, clock))
        client.listen({ text() {}, binary() {}, caughtUp() {}, gone() {} }, opened.reject)
        opened.resolve({ ws, client })
      })
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const reader = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    try {
      await once(reader, 'open')
      reader.pause()
      const { ws, client } = await opened.promise
      await until(() => {
        client.sendText('x'.repeat(500_000))
        return ws.readyState !== WebSocket.OPEN
      }, 'more waits for the reader than may')
      await clock.advance(waitedMs)
      const over = once(reader, 'close')
      reader.resume()
      assert.equal((await over)[0], expected)
    } finally {
      reader.terminate()
      server.close()
    }
  })

test('a listener that throws ends its own connection and nothing else [S74]', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false })
  const failures: string[] = []
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, ws => {
      const client = new SocketConnection(ws, socket, partsWith(SEND_BUFFER_LIMITS))
      const text = (message: string) => {
        if (message === 'throw') throw new Error('a fault of the session')
        client.sendText(message)
      }
      const gone = () => {
        throw new Error('a fault of its end')
      }
      client.listen({ text, binary() {}, caughtUp() {}, gone }, cause => failures.push(String(cause)))
    })
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [victim, neighbour] = [new WebSocket(url), new WebSocket(url)]
  try {
    await Promise.all([once(victim, 'open'), once(neighbour, 'open')])
    const over = once(victim, 'close')
    victim.send('throw')
    const [code] = await over
    assert.equal(code, 1011)
    const echoed = once(neighbour, 'message')
    neighbour.send('still here')
    assert.equal(String((await echoed)[0]), 'still here')
    assert.deepEqual(failures, ['Error: a fault of the session', 'Error: a fault of its end'])
  } finally {
    victim.terminate()
    neighbour.terminate()
    server.close()
  }
})
