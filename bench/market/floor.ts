/**
 * The floor: reads the front's market stream, parses each message, encodes each trade like the service, and sends one write per turn.
 * Nothing else.
 */

import { createServer } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'
import { framed, framedBytes } from '../../packages/server/src/stream/frame.ts'
import { answering } from '../harness/workers.ts'
import type { FloorRequests } from './floor-requests.ts'
import { READERS } from './sandbox/streams.ts'

interface RawTrade {
  readonly s: string
  readonly p: string
  readonly z: string
  readonly x: string
  readonly at: string
}

const clients = new Set<(texts: readonly string[], bytes: number) => void>()
let pending: string[] = []
let pendingBytes = 0

answering<FloorRequests>({
  async open({ sandboxUrl, symbols }) {
    const server = createServer()
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, ws => {
        const send = (texts: readonly string[], bytes: number) => void socket.write(framed(texts, bytes))
        clients.add(send)
        ws.on('error', () => undefined)
        ws.on('close', () => clients.delete(send))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    await read(sandboxUrl, new Map(symbols.map((symbol, index) => [symbol, String(index + 1)])))
    return { url: `ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/` }
  }
})

async function read(sandboxUrl: string, subIds: ReadonlyMap<string, string>): Promise<void> {
  const ws = new WebSocket(`${sandboxUrl.replace(/^http/, 'ws')}/market/v1`, { perMessageDeflate: false })
  const ready = Promise.withResolvers<void>()
  ws.on('open', () => ws.send(JSON.stringify({ op: 'login', token: READERS[0] })))
  ws.on('error', ready.reject)
  ws.on('message', data => {
    const message: { readonly ev?: string; readonly items?: readonly RawTrade[] } = JSON.parse(data.toString())
    if (message.ev === 'ready') ready.resolve()
    for (const { s, p, z, x, at } of message.items ?? []) enqueue(JSON.stringify({ p, s: z, n: x, ts: at, sub_id: subIds.get(s) }))
  })
  await ready.promise
}

function enqueue(text: string): void {
  if (pending.length === 0) setImmediate(flush)
  pending.push(text)
  pendingBytes += framedBytes(text.length)
}

function flush(): void {
  const [texts, bytes] = [pending, pendingBytes]
  pending = []
  pendingBytes = 0
  for (const send of clients) send(texts, bytes)
}
