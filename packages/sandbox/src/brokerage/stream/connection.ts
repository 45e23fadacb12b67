/** One open socket of either stream: login, token renewal, writes, and injected faults. */

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { RawData, WebSocket } from 'ws'
import type { Pass } from '../oauth/grants.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { StreamFaultState } from './stream-faults.ts'
import { Unreliable } from './unreliable.ts'

const LOGIN_WITHIN_MS = 10_000
/** How long an open stream continues after its token has expired. */
const TOKEN_GRACE_MS = 60_000
/** How long a close waits for the peer's answer. */
const CLOSING_MS_MAX = 2_000

export const CLOSE = { going: 1001, malformed: 1008, internalError: 1011, noLogin: 4001, tokenEnded: 4003, slow: 4008 } as const

export interface Denied {
  readonly denied: string
  readonly message: string
}

/** The protocol of an open connection, beyond the part that both streams share. */
export interface StreamProtocol {
  /** The login is known; `message` is its message. @returns the answer, or the refusal. @throws Problem for a malformed message */
  join(message: unknown): { readonly ready: object } | Denied
  /** Called after the answer has been sent. */
  joined(): void
  /** A message of this stream's protocol, after the login. */
  onMessage(op: string, message: unknown): void
  /** The number in heartbeats. */
  readonly seq: number
  /** A frame that is not JSON. */
  readonly garbled: string
}

export interface StreamConnectionDeps {
  readonly now: () => number
  readonly stamp: () => string
  readonly pass: (token: string) => Pass | undefined
  /** The faults of this login's streams. */
  readonly faults: (login: string) => readonly StreamFaultState[]
  /** The operations of this stream besides `login`, `ping` and `token`. */
  readonly ops: readonly string[]
  /** Fields of a login besides `op` and `token`. */
  readonly loginFields: readonly string[]
  /** Bytes that may wait for a slow reader before it is disconnected. */
  readonly waitingMax: number
  /** Receives internal errors. */
  readonly onError: (error: unknown) => void
}

export class StreamConnection {
  readonly #socket: WebSocket
  readonly #wire: Duplex
  readonly #deps: StreamConnectionDeps
  readonly #opened: number
  #protocol: StreamProtocol | undefined
  #pass: Pass | undefined
  readonly #frames: Unreliable
  #corked = false

  constructor(socket: WebSocket, wire: Duplex, deps: StreamConnectionDeps) {
    this.#socket = socket
    this.#wire = wire
    this.#deps = deps
    this.#opened = deps.now()
    this.#frames = new Unreliable({
      now: deps.now,
      faults: () => (this.#pass === undefined ? [] : deps.faults(this.#pass.login)),
      out: frame => this.#out(frame)
    })
    socket.on('message', (data, binary) => this.#receive(data, binary))
    // An error ends in a close, which the registry handles; without a listener it would end the process.
    socket.on('error', () => undefined)
  }

  /** Called once, before any message can arrive. */
  attach(protocol: StreamProtocol): void {
    this.#protocol = protocol
  }

  get pass(): Pass | undefined {
    return this.#pass
  }

  get seq(): number {
    return this.#protocol?.seq ?? 0
  }

  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** Bytes written and not yet taken by the reader's side. */
  get waiting(): number {
    return this.#socket.bufferedAmount
  }

  /** The client's port; null once it is gone. */
  get peer(): number | null {
    return this.#wire instanceof Socket ? (this.#wire.remotePort ?? null) : null
  }

  /** Called each time all written bytes have been taken, after enough of them waited. */
  onDrained(drained: () => void): void {
    this.#wire.on('drain', drained)
  }

  /** A numbered message, subject to the faults of the login's streams. */
  event(frame: string): void {
    this.#frames.event(frame)
  }

  /** A message without a number: a heartbeat or an answer. */
  send(message: object): void {
    this.#frames.send(JSON.stringify(message))
  }

  garble(): void {
    if (this.#protocol !== undefined) this.#out(this.#protocol.garbled)
  }

  /** Called with every heartbeat; closes the connection when its time is up. @returns whether it should receive the heartbeat. */
  check(): boolean {
    const now = this.#deps.now()
    if (this.#pass === undefined) {
      if (now - this.#opened > LOGIN_WITHIN_MS) this.close(CLOSE.noLogin, 'log in within 10 seconds')
      return false
    }
    if (now > this.#pass.expiresAt + TOKEN_GRACE_MS) {
      this.close(CLOSE.tokenEnded, 'the access token has expired; send a new one in time')
      return false
    }
    return true
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), CLOSING_MS_MAX).unref()
  }

  /** Closes immediately and finally. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** RST, as from the network of a vanished peer. */
  cut(): void {
    // Node can neither reset nor close a socket while its shutdown is pending, and does not exit meanwhile.
    if (this.#wire instanceof Socket && !this.#wire.writableEnded) this.#wire.resetAndDestroy()
    else this.#socket.terminate()
  }

  #out(frame: string): void {
    if (!this.open) return
    this.#cork()
    this.#socket.send(frame)
    if (this.#socket.bufferedAmount > this.#deps.waitingMax) this.close(CLOSE.slow, 'this stream is read too slowly')
  }

  /** Frames of one turn of the event loop leave in one write. */
  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    this.#wire.cork()
    setImmediate(() => {
      this.#corked = false
      this.#wire.uncork()
    })
  }

  #receive(data: RawData, binary: boolean): void {
    try {
      if (binary) throw new Problem('bad_request', 'only text frames are accepted')
      const message = parseJson(String(data), { what: 'the message' })
      const op = this.#opOf(message)
      if (op === 'login') this.#login(new Fields(message, ['op', 'token', ...this.#deps.loginFields]).text('token'), message)
      else if (this.#pass === undefined) this.#deny('token_missing', 'log in first')
      else if (op === 'ping') {
        const n = new Fields(message, ['op', 'n']).countOr('n', 0, 4_294_967_295)
        this.send({ ev: 'pong', n, as_of: this.#deps.stamp() })
      } else if (op === 'token') this.#renew(new Fields(message, ['op', 'token']).text('token'))
      else this.#protocol?.onMessage(op, message)
    } catch (error) {
      if (error instanceof Problem || error instanceof Malformed) this.close(CLOSE.malformed, error.message.slice(0, 100))
      else {
        this.#deps.onError(error)
        this.close(CLOSE.internalError, 'something went wrong in the sandbox')
      }
    }
  }

  #opOf(message: unknown): string {
    const op: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, 'op') : undefined
    const known = ['login', 'ping', 'token', ...this.#deps.ops]
    if (typeof op === 'string' && known.includes(op)) return op
    throw new Problem('bad_request', `op must be one of ${known.join(', ')}`)
  }

  #login(token: string, message: unknown): void {
    if (this.#pass !== undefined) throw new Problem('bad_request', 'this stream is logged in already')
    const pass = this.#deps.pass(token)
    if (pass === undefined || !pass.scopes.has('read')) {
      this.#deny('token_invalid', 'the access token is not valid')
      return
    }
    this.#pass = pass
    const answer = this.#protocol?.join(message) ?? { denied: 'internal_error', message: 'the stream is not ready' }
    if ('denied' in answer) {
      this.#pass = undefined
      this.#deny(answer.denied, answer.message)
      return
    }
    this.send(answer.ready)
    this.#protocol?.joined()
  }

  #renew(token: string): void {
    const pass = this.#deps.pass(token)
    if (pass === undefined || pass.login !== this.#pass?.login) this.close(CLOSE.tokenEnded, 'the new access token is not valid here')
    else {
      this.#pass = pass
      this.send({ ev: 'token_ok', as_of: this.#deps.stamp() })
    }
  }

  #deny(code: string, message: string): void {
    this.#socket.send(JSON.stringify({ ev: 'denied', code, message, as_of: this.#deps.stamp() }))
    this.close(CLOSE.noLogin, message)
  }
}
