/** A dialect's open streams of one kind, over WebSockets or chunked HTTP: counted by login, with fault injection. */

import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Pass } from '../../brokerage/oauth/grants.ts'
import { type StreamFaultSpec, StreamFaults } from '../../brokerage/stream/stream-faults.ts'
import { Unreliable } from '../../brokerage/stream/unreliable.ts'

/** What a stream is written to. */
export interface Pipe {
  readonly isOpen: boolean
  /** Bytes handed over and not yet taken by the reader's side. */
  readonly waiting: number
  /** The reader's port; null once it is gone. */
  readonly peer: number | null
  send(frame: string): void
  /** Properly; `code` where the transport has one. */
  close(code: number, reason: string): void
  /** RST, as a vanished peer's network would. */
  cut(): void
}

/** `encode`: how frames go over the wire. */
export function socketPipe(socket: WebSocket, wire: Duplex, encode: (frame: string) => string | Buffer = frame => frame): Pipe {
  return {
    get isOpen() {
      return socket.readyState === socket.OPEN
    },
    get waiting() {
      return socket.bufferedAmount
    },
    get peer() {
      return peerOf(wire)
    },
    send: frame => socket.send(encode(frame)),
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
    get peer() {
      return peerOf(response.socket)
    },
    send: frame => void response.write(frame),
    close: () => void response.end(),
    cut: () => (response.socket === null ? response.destroy() : cutWire(response.socket, () => response.destroy()))
  }
}

/** The remote port of a socket. */
function peerOf(wire: Duplex | null): number | null {
  return wire instanceof Socket ? (wire.remotePort ?? null) : null
}

const CLOSING_MS_MAX = 2_000

function cutWire(wire: Duplex, otherwise: () => void): void {
  // Node can neither reset nor close a socket while its shutdown is under way, and does not end with one.
  if (wire instanceof Socket && !wire.writableEnded) wire.resetAndDestroy()
  else otherwise()
}

export interface DialectConnectionsDeps {
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
export class DialectConnection {
  readonly pass: Pass
  readonly #pipe: Pipe
  readonly #frames: Unreliable
  readonly #isMute: () => boolean

  constructor(pass: Pass, pipe: Pipe, deps: DialectConnectionsDeps, faults: StreamFaults) {
    this.pass = pass
    this.#pipe = pipe
    this.#isMute = () => faults.of(pass.login).some(fault => fault.mutedUntil > deps.now())
    this.#frames = new Unreliable({
      now: deps.now,
      faults: () => faults.of(pass.login),
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

  get peer(): number | null {
    return this.#pipe.peer
  }

  /** It is to send nothing at all, answers to pings included. */
  get isMute(): boolean {
    return this.#isMute()
  }

  /** Something that happened; subject to every kind of fault injection. */
  event(frame: string): void {
    this.#frames.event(frame)
  }

  /** Heartbeats, snapshots and answers: only delayed, or dropped while the stream is mute. */
  send(frame: string): void {
    this.#frames.send(frame)
  }

  close(code: number, reason: string): void {
    this.#pipe.close(code, reason)
  }

  cut(): void {
    this.#pipe.cut()
  }

  /** Past all fault injection. */
  raw(frame: string): void {
    if (this.#pipe.isOpen) this.#pipe.send(frame)
  }
}

export class DialectConnections {
  readonly #deps: DialectConnectionsDeps
  readonly #connections = new Map<string, Set<DialectConnection>>()
  readonly #faults = new StreamFaults()

  constructor(deps: DialectConnectionsDeps) {
    this.#deps = deps
  }

  /** A stream whose reader is known. Must be given back with {@link remove} when it has closed. */
  add(pass: Pass, pipe: Pipe): DialectConnection {
    const connection = new DialectConnection(pass, pipe, this.#deps, this.#faults)
    this.#connections.set(pass.login, (this.#connections.get(pass.login) ?? new Set()).add(connection))
    return connection
  }

  remove(connection: DialectConnection): void {
    const { login } = connection.pass
    const others = this.#connections.get(login)
    if (others?.delete(connection) === true && others.size === 0) this.#connections.delete(login)
  }

  of(login: string): readonly DialectConnection[] {
    return [...(this.#connections.get(login) ?? [])]
  }

  all(): readonly DialectConnection[] {
    return [...this.#connections.values()].flatMap(connections => [...connections])
  }

  /** Carries out a stream fault of the control API. @returns how many were open. */
  injectFault(spec: StreamFaultSpec): number {
    const connections = spec.login === null ? this.all() : this.of(spec.login)
    this.#faults.apply(spec, this.#deps.now())
    for (const connection of connections) {
      if (spec.do === 'garble') connection.raw(this.#deps.garbled)
      if (spec.do !== 'drop') continue
      if (spec.code === null) connection.cut()
      else connection.close(spec.code, 'as ordered')
    }
    return connections.length
  }

  /** Ends the streams that came in on a grant. */
  endGrant(grant: string): void {
    for (const connection of this.all())
      if (connection.pass.grant === grant) connection.close(this.#deps.codes.tokenEnded, 'the grant has ended')
  }

  report(on: 'account' | 'market'): readonly object[] {
    return [...this.#connections].map(([login, connections]) => ({
      ...{ on, login },
      waiting: [...connections].map(({ waiting }) => waiting),
      peers: [...connections].map(({ peer }) => peer)
    }))
  }

  /** Closes all connections and clears the stream faults. */
  reset(): void {
    this.#faults.clear()
    this.close()
  }

  close(): void {
    for (const connection of this.all()) connection.close(this.#deps.codes.going, 'the sandbox is shutting down')
  }
}
