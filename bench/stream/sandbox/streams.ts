import { type WebSocket, WebSocketServer } from 'ws'
import { sandboxNow } from './clock.ts'
import { loginOf } from './rest.ts'
import type { EventText, SandboxState } from './state.ts'

const HEARTBEAT_MS = 5_000

interface Login {
  seq: number
  readonly streams: Set<WebSocket>
}

/** The account streams of the test sandbox: logins, gap-free numbers, heartbeats. */
export class Streams {
  readonly server = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
  readonly #state: SandboxState
  readonly #saw: (count: number) => void
  readonly #logins = new Map<number, Login>()
  #open = 0

  /** @param saw called with the number of updates that a listener has received */
  constructor(state: SandboxState, saw: (count: number) => void) {
    this.#state = state
    this.#saw = saw
    setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
  }

  /** Streams that are logged in. */
  get open(): number {
    return this.#open
  }

  attend(ws: WebSocket): void {
    ws.on('error', () => undefined)
    ws.on('message', data => {
      const { op, token, n } = Object(JSON.parse(data.toString()))
      if (op === 'login') this.#login(ws, String(token))
      else if (op === 'ping') ws.send(JSON.stringify({ ev: 'pong', n, as_of: sandboxNow() }))
      else if (op === 'saw') this.#saw(Number(n))
      else if (op === 'token') ws.send(JSON.stringify({ ev: 'token_ok' }))
    })
  }

  publish(login: number, events: readonly EventText[]): void {
    const known = this.#logins.get(login)
    if (known === undefined) return
    for (const { ev, rest, at } of events) {
      known.seq += 1
      const message = `{"ev":"${ev}","seq":${known.seq},"at":"${at}","as_of":"${at}",${rest}}`
      for (const ws of known.streams) ws.send(message)
    }
  }

  #login(ws: WebSocket, token: string): void {
    const number = loginOf(token)
    if (number === null) {
      ws.send(JSON.stringify({ ev: 'denied', code: 'token_invalid', message: 'not a token of the test sandbox' }))
      ws.close(4001)
      return
    }
    const login = this.#logins.get(number) ?? { seq: 0, streams: new Set<WebSocket>() }
    this.#logins.set(number, login)
    login.streams.add(ws)
    this.#open += 1
    ws.on('close', () => {
      login.streams.delete(ws)
      this.#open -= 1
    })
    const accounts = this.#state.accountsOf(number)
    const common = { login: `log_${number}`, epoch: 'one', seq: login.seq, resumed: false, heartbeat_ms: HEARTBEAT_MS }
    ws.send(JSON.stringify({ ev: 'ready', ...common, accounts, as_of: sandboxNow() }))
  }

  #beat(): void {
    const at = sandboxNow()
    for (const { seq, streams } of this.#logins.values()) {
      const message = `{"ev":"heartbeat","seq":${seq},"as_of":"${at}"}`
      for (const ws of streams) ws.send(message)
    }
  }
}
