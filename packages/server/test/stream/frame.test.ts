import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { textFrame } from '../../src/stream/frame.ts'

test('frames of every length class are read by a WebSocket client as they were meant', async () => {
  const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000]
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, () => {
      for (const length of lengths) socket.write(textFrame(Buffer.from('é'.repeat(length / 2) + 'x'.repeat(length % 2))))
    })
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const received: number[] = []
  for await (const [data, isBinary] of events(client)) {
    assert.equal(isBinary, false)
    received.push(data.byteLength)
    if (received.length === lengths.length) break
  }
  client.terminate()
  server.close()
  assert.deepEqual(received, lengths)
})

async function* events(client: WebSocket): AsyncGenerator<readonly [Buffer, boolean]> {
  const waiting: (readonly [Buffer, boolean])[] = []
  let wake = Promise.withResolvers<void>()
  client.on('message', (data, isBinary) => {
    waiting.push([data as Buffer, isBinary])
    wake.resolve()
  })
  for (;;) {
    await wake.promise
    wake = Promise.withResolvers()
    yield* waiting.splice(0)
  }
}
