/** One open socket of the account stream: logs in, is fed, and is cut off when it reads too slowly or its token ends. */

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { Pass } from '../oauth/grants.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { Numbered } from './channel.ts'
import type { Mischief } from './mischief.ts'

/** Characters that may wait for a slow reader before it is cut off. */
const WAITING_MAX = 1024 * 1024
const LOGIN_WITHIN_MS = 10_000
/** How long an expired token still carries an open stream. */
const TOKEN_GRACE_MS = 60_000

export const CLOSE = { going: 1001, malformed: 1008, noLogin: 4001, tokenEnded: 4003, slow: 4008 } as const

export interface SessionDeps {
  readonly now: () => number
  readonly pass: (token: string) => Pass | undefined
  /** Lets a logged-in session join: the answer, and what it has missed; or why not. */
  readonly join: (session: Session, resume: Resume | null) => Joined | { readonly denied: string; readonly message: string }
  /** What is wrong with this login's streams. */
  readonly mischief: (login: string) => readonly Mischief[]
  readonly stamp: () => string
}

export interface Resume {
  readonly epoch: string
  readonly after: number
}

export interface Joined {
  readonly ready: object
  readonly missed: readonly Numbered[]
}

export class Session {
  readonly #socket: WebSocket
  readonly #wire: Duplex
  readonly #deps: SessionDeps
  readonly #opened: number
  #pass: Pass | undefined
  #reordering: string[] = []
  #corked = false

  constructor(socket: WebSocket, wire: Duplex, deps: SessionDeps) {
    this.#socket = socket
    this.#wire = wire
    this.#deps = deps
    this.#opened = deps.now()
    socket.on('message', (data, binary) => this.#hear(data, binary))
    // Errors end in a close, which the hub hears; without a listener they would end the house.
    socket.on('error', () => undefined)
  }

  get pass(): Pass | undefined {
    return this.#pass
  }

  get waiting(): number {
    return this.#socket.bufferedAmount
  }

  /** An event of the login, subject to whatever is wrong with its streams. */
  event(frame: string): void {
    const wrongs = this.#wrongs()
    if (wrongs.length === 0) {
      this.#out(frame)
      return
    }
    if (wrongs.some(wrong => wrong.loses())) return
    const frames = wrongs.some(wrong => wrong.duplicatesNext()) ? [frame, frame] : [frame]
    const window = Math.max(...wrongs.map(wrong => wrong.window))
    if (window < 2) {
      this.#outAll(frames, wrongs)
      return
    }
    this.#reordering.push(...frames)
    if (this.#reordering.length >= window) this.#outAll(this.#reordering.splice(0).reverse(), wrongs)
  }

  /** Anything that is no event: heartbeats and answers. */
  say(message: object): void {
    this.#outAll([JSON.stringify(message)], this.#wrongs())
  }

  garble(): void {
    this.#out('{"ev":"order","seq":')
  }

  /** Called with every heartbeat; ends the session when its time is up. @returns whether it is to hear the heartbeat. */
  check(): boolean {
    const now = this.#deps.now()
    if (this.#pass === undefined) {
      if (now - this.#opened > LOGIN_WITHIN_MS) this.close(CLOSE.noLogin, 'log in within 10 seconds')
      return false
    }
    if (now > this.#pass.expiresAt + TOKEN_GRACE_MS) {
      this.close(CLOSE.tokenEnded, 'the access token has expired; send a fresh one in time')
      return false
    }
    return true
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    // A peer that does not answer the close would hold its socket for half a minute.
    setTimeout(() => this.#socket.terminate(), 2_000).unref()
  }

  /** At once and for good. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** RST, as a vanished peer's network would. */
  cut(): void {
    if (this.#wire instanceof Socket) this.#wire.resetAndDestroy()
    else this.#socket.terminate()
  }

  #wrongs(): readonly Mischief[] {
    return this.#pass === undefined ? [] : this.#deps.mischief(this.#pass.login)
  }

  #outAll(frames: readonly string[], wrongs: readonly Mischief[]): void {
    if (wrongs.some(wrong => wrong.mutedUntil > this.#deps.now())) return
    const delay = Math.max(0, ...wrongs.map(wrong => wrong.delayMs))
    if (delay === 0) for (const frame of frames) this.#out(frame)
    else
      setTimeout(() => {
        for (const frame of frames) this.#out(frame)
      }, delay).unref()
  }

  #out(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#cork()
    this.#socket.send(frame)
    if (this.#socket.bufferedAmount > WAITING_MAX) this.close(CLOSE.slow, 'this stream is read too slowly')
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

  #hear(data: RawData, binary: boolean): void {
    try {
      if (binary) throw new Problem('bad_request', 'only text frames are understood')
      const message: unknown = JSON.parse(String(data))
      const fields = new Fields(message, ['op', 'token', 'resume', 'n'])
      const op = fields.member('op', ['login', 'ping', 'token'])
      if (op === 'login') this.#login(fields.text('token'), message)
      else if (this.#pass === undefined) this.#deny('token_missing', 'log in first')
      else if (op === 'ping') this.say({ ev: 'pong', n: fields.countOr('n', 0, 4_294_967_295), as_of: this.#deps.stamp() })
      else this.#renew(fields.text('token'))
    } catch (error) {
      const why = error instanceof Problem || error instanceof SyntaxError ? error.message : 'not understood'
      this.close(CLOSE.malformed, why.slice(0, 100))
    }
  }

  #login(token: string, message: unknown): void {
    if (this.#pass !== undefined) throw new Problem('bad_request', 'this stream is logged in already')
    const pass = this.#deps.pass(token)
    if (pass === undefined || !pass.scopes.has('read')) {
      this.#deny('token_invalid', 'the access token is not valid')
      return
    }
    const resume = resumeOf(message)
    this.#pass = pass
    const joined = this.#deps.join(this, resume)
    if ('denied' in joined) {
      this.#pass = undefined
      this.#deny(joined.denied, joined.message)
      return
    }
    this.say(joined.ready)
    for (const { frame } of joined.missed) this.event(frame)
  }

  #renew(token: string): void {
    const pass = this.#deps.pass(token)
    if (pass === undefined || pass.login !== this.#pass?.login) this.close(CLOSE.tokenEnded, 'the new access token is not valid here')
    else {
      this.#pass = pass
      this.say({ ev: 'token_ok', as_of: this.#deps.stamp() })
    }
  }

  #deny(code: string, message: string): void {
    this.#socket.send(JSON.stringify({ ev: 'denied', code, message, as_of: this.#deps.stamp() }))
    this.close(CLOSE.noLogin, message)
  }
}

function resumeOf(message: unknown): Resume | null {
  if (typeof message !== 'object' || message === null || !('resume' in message) || message.resume === null) return null
  const fields = new Fields(message.resume, ['epoch', 'after'])
  const after = fields.countOr('after', 0, Number.MAX_SAFE_INTEGER)
  if (after === null) throw new Problem('bad_request', 'resume.after is missing', { field: 'after' })
  return { epoch: fields.text('epoch'), after }
}
