/** Endpoints for webhooks as a program: one that receives, one that never answers, and an address where nobody listens. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { answering } from '../harness/workers.ts'
import { sharedNow } from '../stream/client/stamps.ts'
import type { ReceiverRequests } from './receiver-requests.ts'

let arrivals = new Map<string, number>()
let messages = 0
let events = 0
let connections = 0
let outOfOrder = 0
const newest = new Map<string, number>()

const receiving = createServer(async (request, response) => {
  const body = await buffer(request)
  const now = sharedNow()
  response.writeHead(204).end()
  messages += 1
  for (const { type, seq, user_id: user, data } of JSON.parse(body.toString()).data) {
    events += 1
    if (newest.has(user) && newest.get(user) !== seq - 1) outOfOrder += 1
    newest.set(user, seq)
    const name = `${data.order_id} ${data.normalized_status}`
    if (type === 'orders' && !arrivals.has(name)) arrivals.set(name, now)
  }
})
receiving.on('connection', () => {
  connections += 1
})
// Its sockets are read, and nothing is ever said.
const silent = createServer(request => request.resume())

answering<ReceiverRequests>({
  async open() {
    const refusing = createServer()
    const urls = { answering: await listening(receiving), silent: await listening(silent), refusing: await listening(refusing) }
    refusing.close()
    return urls
  },
  received() {
    const found = { arrivals, messages, events, connections, outOfOrder }
    arrivals = new Map()
    messages = events = connections = outOfOrder = 0
    return found
  }
})

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('an endpoint has no port')
  return `http://127.0.0.1:${address.port}/webhooks`
}
