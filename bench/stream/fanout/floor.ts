/** The floors of fan-out: a bare `ws` server that repeatedly sends the same updates, batched per turn or one by one. */

import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { answering } from '../../harness/workers.ts'
import { userName } from '../client/update.ts'
import { Producer } from './producer.ts'
import type { ServerRequests } from './requests.ts'
import { eventsPerTick, SmallUpdates, sessionsOf, shapeNamed, usersOf } from './shapes.ts'

interface Reader {
  readonly ws: WebSocket
  readonly socket: Socket
  pending: Buffer[]
}

interface Floor {
  readonly url: string
  readonly producer: Producer
}

let floor: Floor | null = null

answering<ServerRequests>({
  async open({ shape: name, bytes, how }) {
    const shape = shapeNamed(name)
    const sessions = sessionsOf(shape)
    const readers = new Map<number, Reader>()
    const watchers = watchersByUser(sessions, usersOf(shape))
    const small = new SmallUpdates(bytes)
    const updates = Array.from({ length: usersOf(shape) }, (_, user) => small.text(1, userName(user)))
    const frames = updates.map(update => textFrame(Buffer.from(update)))
    const touched = new Set<Reader>()
    const gather = (user: number) => {
      const frame = frames[user]
      for (const session of watchers[user] ?? []) {
        const reader = readers.get(session)
        if (reader === undefined || frame === undefined) continue
        reader.pending.push(frame)
        touched.add(reader)
      }
    }
    const flush = () => {
      for (const reader of touched) {
        reader.socket.write(
          reader.pending.length === 1 && reader.pending[0] !== undefined ? reader.pending[0] : Buffer.concat(reader.pending)
        )
        reader.pending = []
      }
      touched.clear()
    }
    const plain = (user: number) => {
      for (const session of watchers[user] ?? []) readers.get(session)?.ws.send(updates[user] ?? '')
    }
    const sockets = () => [...readers.values()].map(({ socket }) => socket)
    const common = { users: usersOf(shape), eventsPerTick: eventsPerTick(shape), sockets }
    const producer = new Producer(how === 'plain' ? { ...common, produce: plain } : { ...common, produce: gather, onTickEnd: flush })
    floor = { url: await serve(readers), producer }
    return { url: floor.url, bytes, clients: null }
  },
  start() {
    floor?.producer.start()
    return null
  },
  async stop() {
    return (await floor?.producer.stop()) ?? new Uint32Array()
  }
})

/** A session passes its number in `?session=`. */
async function serve(readers: Map<number, Reader>): Promise<string> {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, ws => {
      const session = Number(new URL(request.url ?? '', 'ws://floor').searchParams.get('session'))
      readers.set(session, { ws, socket: request.socket, pending: [] })
      ws.on('close', () => readers.delete(session))
      ws.on('error', () => undefined)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
}

function watchersByUser(sessions: ReturnType<typeof sessionsOf>, users: number): readonly (readonly number[])[] {
  const watchers: number[][] = Array.from({ length: users }, () => [])
  sessions.forEach((session, index) => {
    for (const user of session.users) watchers[user]?.push(index)
  })
  return watchers
}

/** A whole text message as a server sends it, up to 65,535 bytes (RFC 6455, section 5.2). */
function textFrame(payload: Buffer): Buffer {
  const { length } = payload
  const head = length < 126 ? Buffer.of(0x81, length) : Buffer.of(0x81, 126, length >> 8, length & 255)
  return Buffer.concat([head, payload])
}
