/** A dialect's open streams of one kind, over WebSockets or endless HTTP answers: counted by login, made to misbehave, and sent home. */

import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Pass } from '../../house/oauth/grants.ts'
import { type StreamOrder, Wrongs } from '../../house/stream/mischief.ts'
import { Unreliable } from '../../house/stream/unreliable.ts'

/** What a stream is written to. */
export interface Pipe {
  readonly isOpen: boolean
  /** Bytes handed over and not yet taken by the reader's side. */
  readonly waiting: number
  send(frame: string): void
  /** Properly; `code` where the transport has one. */
  close(code: number, reason: string): void
  /** RST, as a vanished peer's network would. */
  cut(): void
}

/** `asBytes`: frames go out as binary messages. */
export function socketPipe(socket: WebSocket, wire: Duplex, asBytes = false): Pipe {
  return {
    get isOpen() {
      return socket.readyState === socket.OPEN
    },
    get waiting() {
      return socket.bufferedAmount
    },
    send: frame => socket.send(asBytes ? Buffer.from(frame) : frame),
    close: (code, reason) => {
      socket.close(code, reason)
      setTimeout(() => socket.terminate(), CLOSING_MS_MAX).unref()
    },
    cut: () => cutWire(wire, () => socket.terminate())
  }
}

/** The headers must have been written. Each frame is sent as it is, ends of lines included. */
export function answerPipe(response: ServerResponse): Pipe {
  return {
    get isOpen() {
      return !response.writableEnded && !response.destroyed
    },
    get waiting() {
      return response.writableLength
    },
    send: frame => void response.write(frame),
    close: () => void response.end(),
    cut: () => (response.socket === null ? response.destroy() : cutWire(response.socket, () => response.destroy()))
  }
}

const CLOSING_MS_MAX = 2_000

function cutWire(wire: Duplex, otherwise: () => void): void {
  // Node can neither reset nor close a socket while its shutdown is under way, and does not end with one.
  if (wire instanceof Socket && !wire.writableEnded) wire.resetAndDestroy()
  else otherwise()
}

export interface LinesDeps {
  /** Real time in milliseconds. */
  readonly now: () => number
  /** Bytes that may wait for a slow reader before it is cut off. */
  readonly waitingMax: number
  /** What the control API's `garble` sends: a frame that cannot be read. */
  readonly garbled: string
  /** Close codes, for transports that have them. */
  readonly codes: { readonly going: number; readonly tokenEnded: number; readonly slow: number }
}

/** One open stream of a login. */
export class DialectLine {
  readonly pass: Pass
  readonly #pipe: Pipe
  readonly #frames: Unreliable
  readonly #isMute: () => boolean

  constructor(pass: Pass, pipe: Pipe, deps: LinesDeps, wrongs: Wrongs) {
    this.pass = pass
    this.#pipe = pipe
    this.#isMute = () => wrongs.of(pass.login).some(wrong => wrong.mutedUntil > deps.now())
    this.#frames = new Unreliable({
      now: deps.now,
      wrongs: () => wrongs.of(pass.login),
      out: frame => {
        if (!pipe.isOpen) return
        pipe.send(frame)
        if (pipe.waiting > deps.waitingMax) pipe.close(deps.codes.slow, 'this stream is read too slowly')
      }
    })
  }

  get isOpen(): boolean {
    return this.#pipe.isOpen
  }

  get waiting(): number {
    return this.#pipe.waiting
  }

  /** It is to send nothing at all, answers to pings included. */
  get isMute(): boolean {
    return this.#isMute()
  }

  /** Something that happened; subject to every kind of mischief. */
  event(frame: string): void {
    this.#frames.event(frame)
  }

  /** Heartbeats, snapshots and answers: only held up, or kept back while the stream is mute. */
  say(frame: string): void {
    this.#frames.say(frame)
  }

  close(code: number, reason: string): void {
    this.#pipe.close(code, reason)
  }

  cut(): void {
    this.#pipe.cut()
  }

  /** Past all mischief. */
  raw(frame: string): void {
    if (this.#pipe.isOpen) this.#pipe.send(frame)
  }
}

export class DialectLines {
  readonly #deps: LinesDeps
  readonly #lines = new Map<string, Set<DialectLine>>()
  readonly #wrongs = new Wrongs()

  constructor(deps: LinesDeps) {
    this.#deps = deps
  }

  /** A stream whose reader is known. Must be given back with {@link remove} when it has closed. */
  add(pass: Pass, pipe: Pipe): DialectLine {
    const line = new DialectLine(pass, pipe, this.#deps, this.#wrongs)
    this.#lines.set(pass.login, (this.#lines.get(pass.login) ?? new Set()).add(line))
    return line
  }

  remove(line: DialectLine): void {
    const { login } = line.pass
    const others = this.#lines.get(login)
    if (others?.delete(line) === true && others.size === 0) this.#lines.delete(login)
  }

  of(login: string): readonly DialectLine[] {
    return [...(this.#lines.get(login) ?? [])]
  }

  all(): readonly DialectLine[] {
    return [...this.#lines.values()].flatMap(lines => [...lines])
  }

  /** Carries out what the control API wants done. @returns how many were open. */
  misbehave(order: StreamOrder): number {
    const lines = order.login === null ? this.all() : this.of(order.login)
    this.#wrongs.apply(order, this.#deps.now())
    for (const line of lines) {
      if (order.do === 'garble') line.raw(this.#deps.garbled)
      if (order.do !== 'drop') continue
      if (order.code === null) line.cut()
      else line.close(order.code, 'as ordered')
    }
    return lines.length
  }

  /** Ends the streams that came in on a grant. */
  endGrant(grant: string): void {
    for (const line of this.all()) if (line.pass.grant === grant) line.close(this.#deps.codes.tokenEnded, 'the grant has ended')
  }

  report(on: 'account' | 'market'): readonly object[] {
    return [...this.#lines].map(([login, lines]) => ({ on, login, waiting: [...lines].map(({ waiting }) => waiting) }))
  }

  /** Sends everybody home, with nothing wrong any more for whoever comes next. */
  reset(): void {
    this.#wrongs.clear()
    this.close()
  }

  close(): void {
    for (const line of this.all()) line.close(this.#deps.codes.going, 'the house is going down')
  }
}
