/** A connection over a WebSocket. */

import type { Clock } from '@trunkline/core/ports/clock'
import { WebSocket } from 'ws'
import { StreamFault } from './stream-fault.ts'
import type { Transport, TransportLimits, TransportListener } from './transport.ts'

/** Time limit for the answer to a close frame. */
const CLOSE_MS = 1_000

export interface WebSocketAddress {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Frames to send as soon as the socket is open. */
  readonly hello: readonly (string | Uint8Array)[]
  /** How often to ping. Absent: never, and the other side's pings and pongs do not count as received data. */
  readonly pingMs?: number
}

export class WebSocketTransport implements Transport {
  readonly #socket: WebSocket
  readonly #clock: Clock
  #ping: Disposable | null = null

  constructor({ url, headers, hello, pingMs }: WebSocketAddress, listener: TransportListener, limits: TransportLimits, clock: Clock) {
    this.#clock = clock
    const socket = new WebSocket(url, {
      headers: headers ?? {},
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout: limits.handshakeMs,
      maxPayload: limits.frameMax,
      rejectUnauthorized: true
    })
    this.#socket = socket
    socket.on('open', () => {
      for (const frame of hello) socket.send(frame)
      listener.opened()
    })
    socket.on('message', (data, isBinary) => {
      // The library delivers one buffer unless configured otherwise; its types do not express that.
      if (isBinary && data instanceof Uint8Array) listener.bytes(data)
      else listener.frame(data.toString())
    })
    if (pingMs !== undefined) this.#keepPinging(pingMs, listener)
    socket.on('close', code => listener.closed(code))
    socket.on('unexpected-response', (_request, { statusCode, headers: answered }) => {
      listener.refused({ status: statusCode ?? 0, headers: answered, body: '' })
    })
    socket.on('error', error => {
      const isProtocol = 'code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR_')
      listener.failed(new StreamFault(isProtocol ? 'malformed' : 'lost', error.message, error))
    })
  }

  send(frame: string | Uint8Array): void {
    this.#socket.send(frame)
  }

  /** If the peer does not answer the close frame in time, the socket is terminated. */
  async end(isPolite: boolean): Promise<void> {
    const socket = this.#socket
    this.#ping?.[Symbol.dispose]()
    if (socket.readyState === WebSocket.CLOSED) return
    const gone = new Promise<void>(resolve => socket.once('close', () => resolve()))
    if (isPolite && socket.readyState === WebSocket.OPEN) {
      socket.close(1000)
      const cut = this.#clock.alarm(CLOSE_MS, () => socket.terminate())
      await gone
      cut[Symbol.dispose]()
      return
    }
    socket.terminate()
    await gone
  }

  #keepPinging(pingMs: number, listener: TransportListener): void {
    const socket = this.#socket
    const next = () => {
      this.#ping = this.#clock.alarm(pingMs, () => {
        if (socket.readyState !== WebSocket.OPEN) return
        socket.ping()
        next()
      })
    }
    socket.on('open', next)
    socket.on('ping', () => listener.beat())
    socket.on('pong', () => listener.beat())
  }
}
