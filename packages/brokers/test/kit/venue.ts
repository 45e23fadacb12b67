/** A venue with a stream whose every frame a test writes, and a reader that records what it receives. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Malformed } from '@trunkline/core/domain/malformed'
import { until } from '@trunkline/testkit/until'
import { type WebSocket, WebSocketServer } from 'ws'
import { RateLimiter } from '../../src/kit/rate-limiter.ts'
import { type SocketOptions, SocketSession, type StreamStatus } from '../../src/kit/socket.ts'
import type { ProtocolFactory, StreamProtocol } from '../../src/kit/stream-protocol.ts'
import { systemClock } from '../support/clocks.ts'
import { streamOptions } from './stream-options.ts'

/** A venue that sends `live <heartbeat>`, `gap` and anything else as an event. */
export class Venue implements AsyncDisposable {
  readonly server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  readonly sockets: WebSocket[] = []
  readonly received: string[] = []
  greeting = 'live 10000'

  static async start(): Promise<Venue> {
    const venue = new Venue()
    await once(venue.server, 'listening')
    return venue
  }

  private constructor() {
    this.server.on('connection', socket => {
      this.sockets.push(socket)
      socket.on('message', data => this.received.push(data.toString()))
      if (this.greeting !== '') socket.send(this.greeting)
    })
  }

  get url(): string {
    const address = this.server.address()
    assert.ok(typeof address === 'object' && address !== null)
    return `ws://127.0.0.1:${address.port}`
  }

  get last(): WebSocket {
    const socket = this.sockets.at(-1)
    assert.ok(socket !== undefined)
    return socket
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.server.clients) socket.terminate()
    this.server.close()
    await once(this.server, 'close')
  }
}

export function protocol(venue: Venue, more: Partial<StreamProtocol<string>> = {}): ProtocolFactory<string> {
  return {
    begin: async () => ({
      url: venue.url,
      hello: ['hello'],
      onFrame: frame => {
        if (frame === 'nonsense') throw new Malformed('frame', 'sense', frame)
        const [command, ms] = frame.split(' ')
        if (command === 'live') return [{ type: 'live', heartbeatMs: Number(ms) }]
        return frame === 'gap' ? [{ type: 'gap', cause: 'missing', reason: 'missed one' }] : [{ type: 'event', event: frame }]
      },
      ...more
    })
  }
}

export function rate(perSecond: number, burst = perSecond): RateLimiter {
  return new RateLimiter({ perSecond, burst, reservedForOrders: 0, waitingMax: 100, waitMsMax: 10_000 }, systemClock)
}

export function follow(of: ProtocolFactory<string>, more: Partial<SocketOptions> = {}) {
  const received: (string | StreamStatus)[] = []
  const stop = new AbortController()
  const options = streamOptions({ eventsMax: 100, ...more })
  const running = (async () => {
    for await (const item of new SocketSession([of], options, { signal: stop.signal })) received.push(item)
  })()
  running.catch(() => undefined)
  const history = () => received.map(kindOf)
  const causes = () => received.flatMap(item => (typeof item === 'object' && item.type === 'gap' ? [item.cause] : []))
  return {
    received,
    history,
    causes,
    running,
    receives: (count: number) => until(() => received.length >= count, `${count} were received so far ${history().join(', ')}`),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running.catch(() => undefined)
    }
  }
}

export function kindOf(item: string | StreamStatus): string {
  return typeof item === 'string' ? item : item.type
}
