import type { SocketLike, Timers } from '../../src/streams/connection.ts'

type Listener = (event: { readonly data: unknown; readonly code: number; readonly reason: string }) => void

/** A WebSocket whose other end is the test. */
export class ScriptedSocket implements SocketLike {
  readonly url: string
  readonly sent: Readonly<Record<string, unknown>>[] = []
  isClosed = false
  readonly #listeners: (readonly [type: string, listener: Listener])[] = []

  constructor(url: string) {
    this.url = url
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.push([type, listener])
  }

  send(text: string): void {
    if (!this.isClosed) this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  open(): void {
    this.#emit('open', {})
  }

  receive(...messages: readonly object[]): void {
    for (const message of messages) this.#emit('message', { data: JSON.stringify(message) })
  }

  receiveText(data: unknown): void {
    this.#emit('message', { data })
  }

  /** An attempt fails, and no close follows. */
  fail(): void {
    this.isClosed = true
    this.#emit('error', {})
  }

  /** The other end closes, or the connection breaks (1006). */
  drop(code = 1006, reason = ''): void {
    this.isClosed = true
    this.#emit('close', { code, reason })
  }

  /** What was sent with this `action`. */
  sentAs(action: string): readonly Readonly<Record<string, unknown>>[] {
    return this.sent.filter(message => message.action === action)
  }

  #emit(type: string, event: Partial<Parameters<Listener>[0]>): void {
    for (const [of, listener] of [...this.#listeners]) if (of === type) listener({ data: null, code: 0, reason: '', ...event })
  }
}

/** All sockets that a stream opened, and its time. */
export class Network implements Timers {
  readonly sockets: ScriptedSocket[] = []
  readonly socket: new (
    url: string
  ) => ScriptedSocket
  #nowMs = 0
  #waiting: { readonly atMs: number; readonly run: () => void }[] = []

  constructor() {
    const { sockets } = this
    this.socket = class extends ScriptedSocket {
      constructor(url: string) {
        super(url)
        sockets.push(this)
      }
    }
  }

  /** The newest socket. */
  get last(): ScriptedSocket {
    const socket = this.sockets.at(-1)
    if (socket === undefined) throw new Error('no socket was opened')
    return socket
  }

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, run: () => void): () => void {
    const entry = { atMs: this.#nowMs + ms, run }
    this.#waiting.push(entry)
    return () => {
      this.#waiting = this.#waiting.filter(one => one !== entry)
    }
  }

  /** Time passes, and nothing that is due happens. */
  sleep(ms: number): void {
    this.#nowMs += ms
  }

  /** Lets time pass: what is due meanwhile happens at its moment. */
  pass(ms: number): void {
    const end = this.#nowMs + ms
    for (;;) {
      const [next] = this.#waiting.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      this.#waiting = this.#waiting.filter(one => one !== next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
    }
    this.#nowMs = end
  }
}
