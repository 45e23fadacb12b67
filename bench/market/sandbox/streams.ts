import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { sandboxNow } from '../../stream/sandbox/clock.ts'

const HEARTBEAT_MS = 5_000

/**
 * The reader of a market stream: a client that logs in with one of these names, otherwise the service, whose tokens only the real sandbox
 * can check.
 */
export const READERS = ['floor', 'direct'] as const
export type Reader = (typeof READERS)[number] | 'service'

interface Stream {
  readonly reader: Reader
  readonly socket: Socket
  seq: number
}

/**
 * The market streams of the front, as in the sandbox's API: login, heartbeats, numbered messages. Every symbol is streamed on every
 * channel.
 */
export class MarketStreams {
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
  readonly #open = new Map<WebSocket, Stream>()

  constructor() {
    setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, ws => this.#attend(ws, socket))
  }

  /** The current stream of a reader. @throws Error if it has none */
  of(reader: Reader): MarketStream {
    const stream = [...this.#open.values()].find(one => one.reader === reader)
    if (stream === undefined) throw new Error(`${reader} reads no market stream`)
    return new MarketStream(stream)
  }

  has(reader: Reader): boolean {
    return [...this.#open.values()].some(one => one.reader === reader)
  }

  #attend(ws: WebSocket, socket: Duplex): void {
    ws.on('error', () => undefined)
    ws.on('close', () => this.#open.delete(ws))
    ws.on('message', data => {
      const { op, n, token, symbols } = Object(JSON.parse(data.toString()))
      if (op === 'login') this.#login(ws, socket, String(token))
      else if (op === 'add') ws.send(JSON.stringify({ ev: 'added', n, symbols, unknown: [] }))
      else if (op === 'drop') ws.send(JSON.stringify({ ev: 'dropped', n }))
      else if (op === 'ping') ws.send(JSON.stringify({ ev: 'pong', n, as_of: sandboxNow() }))
      else if (op === 'token') ws.send(JSON.stringify({ ev: 'token_ok' }))
    })
  }

  #login(ws: WebSocket, socket: Duplex, token: string): void {
    if (!(socket instanceof Socket)) throw new Error('the front serves TCP only')
    this.#open.set(ws, { reader: READERS.find(name => name === token) ?? 'service', socket, seq: 0 })
    const now = sandboxNow()
    ws.send(JSON.stringify({ ev: 'ready', login: 'log_1', heartbeat_ms: HEARTBEAT_MS, as_of: now, sandbox_time: now }))
  }

  #beat(): void {
    const now = sandboxNow()
    for (const [ws, { seq }] of this.#open) ws.send(JSON.stringify({ ev: 'heartbeat', seq, as_of: now, sandbox_time: now }))
  }
}

/** One stream that bypasses `ws`: what is sent in a turn of the event loop leaves in one write. */
export class MarketStream {
  readonly #stream: Stream
  #pending: Buffer[] = []

  constructor(stream: Stream) {
    this.#stream = stream
  }

  /** Whether bytes of earlier writes wait in this process. */
  get isBehind(): boolean {
    return this.#stream.socket.writableNeedDrain
  }

  /** @param items JSON of the items, separated by commas */
  send(items: string): void {
    this.#stream.seq += 1
    this.#pending.push(textFrame(`{"seq":${this.#stream.seq},"items":[${items}]}`))
  }

  flush(): void {
    const pending = this.#pending
    this.#pending = []
    if (pending.length > 0) this.#stream.socket.write(Buffer.concat(pending))
  }
}

/** A whole text message as a server sends it, up to 65,535 characters of ASCII (RFC 6455, section 5.2). */
function textFrame(text: string): Buffer {
  const { length } = text
  const head = length < 126 ? 2 : 4
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = 0x81
  if (head === 2) frame[1] = length
  else {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  }
  frame.write(text, head, 'latin1')
  return frame
}
