/** The account streams: who is connected, and how each login's events reach them. */

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import type { Pass } from '../oauth/grants.ts'
import { Channel } from './channel.ts'
import { Mischief, type StreamOrder } from './mischief.ts'
import { CLOSE, type Joined, type Resume, Session } from './session.ts'

export const STREAM_PATH = '/stream/v1'

const STREAMS_PER_LOGIN = 20
const GOODBYE_MS = 250
const MESSAGE_BYTES_MAX = 16 * 1024

export interface HubDeps {
  readonly now: () => number
  /** Real time, as the wire shows it. */
  readonly stamp: () => string
  readonly heartbeatMs: number
  /** A name no earlier start of this house, and no reset, has had. */
  readonly newEpoch: () => string
  readonly pass: (token: string) => Pass | undefined
  readonly accountsOf: (login: string) => readonly string[]
  /** Asked before each upgrade; `false`: it has dealt with the socket. */
  readonly admit: (socket: Duplex) => Promise<boolean>
}

export interface StreamEvent {
  readonly ev: 'order' | 'fill' | 'position' | 'balance'
  /** House time, as the wire shows it. */
  readonly at: string
  /** JSON without its braces. */
  readonly fields: string
}

export class Hub {
  readonly #deps: HubDeps
  readonly #server: WebSocketServer
  readonly #channels = new Map<string, Channel>()
  readonly #members = new Map<string, Set<Session>>()
  readonly #sessions = new Set<Session>()
  readonly #everybody = new Mischief()
  readonly #mischief = new Map<string, Mischief>()
  #epoch: string
  #heartbeat: NodeJS.Timeout | undefined

  constructor(deps: HubDeps) {
    this.#deps = deps
    this.#epoch = deps.newEpoch()
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      clientTracking: false,
      maxFragments: 64,
      maxBufferedChunks: 256
    })
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
    this.#heartbeat = setInterval(() => this.#beat(), this.#deps.heartbeatMs)
    this.#heartbeat.unref()
  }

  /** Whether anybody could ever read an event of this login: nobody need make one up otherwise. */
  listens(login: string): boolean {
    return this.#channels.has(login)
  }

  /** Sends one event to all streams of a login. `fields` is what follows the event's head: `"order":{…}`. Nothing where nobody listens. */
  publish(login: string, { ev, at, fields }: StreamEvent): void {
    const stamp = this.#deps.stamp()
    const event = this.#channels.get(login)?.add(seq => `{"ev":"${ev}","seq":${seq},"at":"${at}","as_of":"${stamp}",${fields}}`)
    if (event === undefined) return
    for (const session of this.#members.get(login) ?? []) session.event(event.frame)
  }

  /** Carries out what the control API wants done to the streams. @returns how many were open. */
  misbehave(order: StreamOrder): number {
    const sessions = order.login === null ? [...this.#sessions] : [...(this.#members.get(order.login) ?? [])]
    this.#mischiefOf(order.login).apply(order, this.#deps.now())
    if (order.do === 'normal' && order.login === null) this.#mischief.clear()
    for (const session of sessions) {
      if (order.do === 'garble') session.garble()
      if (order.do !== 'drop') continue
      if (order.code === null) session.cut()
      else session.close(order.code, 'as ordered')
    }
    return sessions.length
  }

  /** Ends the streams that came in on a grant. */
  endGrant(grant: string): void {
    for (const session of this.#sessions) if (session.pass?.grant === grant) session.close(CLOSE.tokenEnded, 'the grant has ended')
  }

  /** Every login's streams as they stand. */
  report(): readonly object[] {
    return [...this.#members]
      .filter(([, sessions]) => sessions.size > 0)
      .map(([login, sessions]) => ({ login, seq: this.#seq(login), waiting: [...sessions].map(session => session.waiting) }))
  }

  /** Begins a new epoch: the books are no longer those that the events so far speak of. */
  reset(): void {
    this.#epoch = this.#deps.newEpoch()
    this.#channels.clear()
    this.#mischief.clear()
    this.misbehave({ do: 'normal', login: null, code: null, ms: 0, times: null, window: 0 })
    for (const session of this.#sessions) session.close(CLOSE.going, 'the house has been reset')
  }

  /** Says goodbye, and does not wait long for an answer. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    for (const session of this.#sessions) session.close(CLOSE.going, 'the house is going down')
    for (let waited = 0; this.#sessions.size > 0 && waited < GOODBYE_MS; waited += 10) await wait(10)
    for (const session of this.#sessions) session.terminate()
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    if (request.url?.split('?', 1)[0] !== STREAM_PATH) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    if (!(await this.#deps.admit(socket)) || socket.destroyed) return
    this.#server.handleUpgrade(request, socket, head, ws => {
      const session = new Session(ws, socket, {
        now: this.#deps.now,
        stamp: this.#deps.stamp,
        pass: this.#deps.pass,
        join: (joining, resume) => this.#join(joining, resume),
        mischief: login => this.#wrongs(login)
      })
      this.#sessions.add(session)
      ws.on('close', () => this.#leave(session))
    })
  }

  #join(session: Session, resume: Resume | null): Joined | { readonly denied: string; readonly message: string } {
    const login = session.pass?.login ?? ''
    const members = this.#members.get(login) ?? new Set()
    if (members.size >= STREAMS_PER_LOGIN) return { denied: 'too_many_streams', message: `at most ${STREAMS_PER_LOGIN} streams per login` }
    this.#members.set(login, members.add(session))
    const channel = this.#channels.get(login) ?? new Channel()
    this.#channels.set(login, channel)
    const missed = resume !== null && resume.epoch === this.#epoch ? channel.after(resume.after) : undefined
    const ready = {
      ev: 'ready',
      login,
      epoch: this.#epoch,
      seq: channel.seq,
      resumed: missed !== undefined,
      heartbeat_ms: this.#deps.heartbeatMs,
      accounts: this.#deps.accountsOf(login),
      as_of: this.#deps.stamp()
    }
    return { ready, missed: missed ?? [] }
  }

  #leave(session: Session): void {
    this.#sessions.delete(session)
    const login = session.pass?.login
    if (login !== undefined) this.#members.get(login)?.delete(session)
  }

  #beat(): void {
    const stamp = this.#deps.stamp()
    for (const session of this.#sessions) {
      if (session.check()) session.say({ ev: 'heartbeat', seq: this.#seq(session.pass?.login ?? ''), as_of: stamp })
    }
  }

  #seq(login: string): number {
    return this.#channels.get(login)?.seq ?? 0
  }

  #mischiefOf(login: string | null): Mischief {
    if (login === null) return this.#everybody
    const known = this.#mischief.get(login)
    if (known !== undefined) return known
    const fresh = new Mischief()
    this.#mischief.set(login, fresh)
    return fresh
  }

  #wrongs(login: string): readonly Mischief[] {
    const own = this.#mischief.get(login)
    if (this.#everybody.harmless && (own === undefined || own.harmless)) return []
    return own === undefined ? [this.#everybody] : [this.#everybody, own]
  }
}
