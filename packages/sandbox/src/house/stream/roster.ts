/** The open streams of one kind: let in, counted by login, kept alive, made to misbehave, and sent home. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import type { Pass } from '../oauth/grants.ts'
import { CLOSE, type Denied, Line, type Talk } from './line.ts'
import { type StreamOrder, Wrongs } from './mischief.ts'

const STREAMS_PER_LOGIN = 20
const GOODBYE_MS = 250

export interface RosterDeps {
  readonly now: () => number
  /** Real time, as the wire shows it. */
  readonly stamp: () => string
  readonly heartbeatMs: number
  readonly pass: (token: string) => Pass | undefined
  /** Hears of failures that are the house's own. */
  readonly onTrouble: (error: unknown) => void
}

/** What sets one kind of stream apart from the other. */
export interface Kind {
  /** Bytes of one message to the house. */
  readonly messageMax: number
  /** Bytes that may wait for a slow reader. */
  readonly waitingMax: number
  /** What is understood besides `login`, `ping` and `token`. */
  readonly ops: readonly string[]
  /** Fields of a login besides `op` and `token`. */
  readonly loginFields: readonly string[]
  /** Whoever talks on a new line. */
  readonly talk: (line: Line) => Talk
  /** A line has gone. */
  readonly left: (line: Line) => void
  /** Fields of a heartbeat besides its number and `as_of`. */
  readonly beat: () => object
}

export class Roster {
  readonly #deps: RosterDeps
  readonly #kind: Kind
  readonly #server: WebSocketServer
  readonly #members = new Map<string, Set<Line>>()
  readonly #lines = new Set<Line>()
  readonly #wrongs = new Wrongs()
  readonly #heartbeat: NodeJS.Timeout

  constructor(deps: RosterDeps, kind: Kind) {
    this.#deps = deps
    this.#kind = kind
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: kind.messageMax,
      perMessageDeflate: false,
      clientTracking: false,
      maxFragments: 64,
      maxBufferedChunks: 256
    })
    this.#heartbeat = setInterval(() => this.#beat(), deps.heartbeatMs)
    this.#heartbeat.unref()
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, ws => {
      const { now, stamp, pass, onTrouble } = this.#deps
      const { ops, loginFields, waitingMax } = this.#kind
      const mischief = (login: string) => this.#wrongs.of(login)
      const line = new Line(ws, socket, { now, stamp, pass, onTrouble, mischief, ops, loginFields, waitingMax })
      line.speak(this.#kind.talk(line))
      this.#lines.add(line)
      ws.on('close', () => this.#leave(line))
    })
  }

  /** Counts a line to its login, unless that has too many already. */
  enrol(line: Line): Denied | undefined {
    const login = line.pass?.login ?? ''
    const members = this.#members.get(login) ?? new Set()
    if (members.size >= STREAMS_PER_LOGIN) return { denied: 'too_many_streams', message: `at most ${STREAMS_PER_LOGIN} streams per login` }
    this.#members.set(login, members.add(line))
    return undefined
  }

  of(login: string): Iterable<Line> {
    return this.#members.get(login) ?? []
  }

  /** Carries out what the control API wants done to the streams. @returns how many were open. */
  misbehave(order: StreamOrder): number {
    const lines = order.login === null ? [...this.#lines] : [...this.of(order.login)]
    this.#wrongs.apply(order, this.#deps.now())
    for (const line of lines) {
      if (order.do === 'garble') line.garble()
      if (order.do !== 'drop') continue
      if (order.code === null) line.cut()
      else line.close(order.code, 'as ordered')
    }
    return lines.length
  }

  /** Ends the streams that came in on a grant. */
  endGrant(grant: string): void {
    for (const line of this.#lines) if (line.pass?.grant === grant) line.close(CLOSE.tokenEnded, 'the grant has ended')
  }

  /** Every login's streams as they stand. */
  report(): readonly { readonly login: string; readonly lines: readonly Line[] }[] {
    return [...this.#members].filter(([, lines]) => lines.size > 0).map(([login, lines]) => ({ login, lines: [...lines] }))
  }

  /** Sends everybody home, with nothing wrong any more for whoever comes next. */
  reset(): void {
    this.#wrongs.clear()
    for (const line of this.#lines) line.close(CLOSE.going, 'the house has been reset')
  }

  /** Says goodbye, and does not wait long for an answer. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    for (const line of this.#lines) line.close(CLOSE.going, 'the house is going down')
    for (let waited = 0; this.#lines.size > 0 && waited < GOODBYE_MS; waited += 10) await wait(10)
    for (const line of this.#lines) line.terminate()
  }

  #leave(line: Line): void {
    this.#lines.delete(line)
    const login = line.pass?.login
    if (login !== undefined) {
      const members = this.#members.get(login)
      members?.delete(line)
      if (members?.size === 0) this.#members.delete(login)
    }
    this.#kind.left(line)
  }

  #beat(): void {
    const as_of = this.#deps.stamp()
    const more = this.#kind.beat()
    for (const line of this.#lines) if (line.check()) line.say({ ev: 'heartbeat', seq: line.seq, ...more, as_of })
  }
}
