/** The open streams of one kind: admission, count per login, heartbeats and fault injection. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import type { Pass } from '../oauth/grants.ts'
import { CLOSE, type Denied, StreamConnection, type StreamProtocol } from './connection.ts'
import { type StreamFaultSpec, StreamFaults } from './stream-faults.ts'

const STREAMS_PER_LOGIN = 20
const GOODBYE_MS = 250

export interface ConnectionRegistryDeps {
  readonly now: () => number
  /** Real time, as the wire shows it. */
  readonly stamp: () => string
  readonly heartbeatMs: number
  readonly pass: (token: string) => Pass | undefined
  /** Receives internal errors. */
  readonly onError: (error: unknown) => void
}

/** The differences between the two kinds of streams. */
export interface Kind {
  /** Maximum bytes of a message to the sandbox. */
  readonly messageMax: number
  /** Bytes that may wait for a slow reader. */
  readonly waitingMax: number
  /** The operations besides `login`, `ping` and `token`. */
  readonly ops: readonly string[]
  /** Fields of a login besides `op` and `token`. */
  readonly loginFields: readonly string[]
  /** The protocol of a new connection. */
  readonly protocol: (connection: StreamConnection) => StreamProtocol
  /** Handles the close of a connection. */
  readonly left: (connection: StreamConnection) => void
  /** Fields of a heartbeat besides its number and `as_of`. */
  readonly beat: () => object
}

export class ConnectionRegistry {
  readonly #deps: ConnectionRegistryDeps
  readonly #kind: Kind
  readonly #server: WebSocketServer
  readonly #members = new Map<string, Set<StreamConnection>>()
  readonly #connections = new Set<StreamConnection>()
  readonly #faults = new StreamFaults()
  readonly #heartbeat: NodeJS.Timeout

  constructor(deps: ConnectionRegistryDeps, kind: Kind) {
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
      const { now, stamp, pass, onError } = this.#deps
      const { ops, loginFields, waitingMax } = this.#kind
      const faults = (login: string) => this.#faults.of(login)
      const connection = new StreamConnection(ws, socket, { now, stamp, pass, onError, faults, ops, loginFields, waitingMax })
      connection.attach(this.#kind.protocol(connection))
      this.#connections.add(connection)
      ws.on('close', () => this.#leave(connection))
    })
  }

  /** Counts a connection for its login, unless that has too many already. */
  enrol(connection: StreamConnection): Denied | undefined {
    const login = connection.pass?.login ?? ''
    const members = this.#members.get(login) ?? new Set()
    if (members.size >= STREAMS_PER_LOGIN) return { denied: 'too_many_streams', message: `at most ${STREAMS_PER_LOGIN} streams per login` }
    this.#members.set(login, members.add(connection))
    return undefined
  }

  of(login: string): Iterable<StreamConnection> {
    return this.#members.get(login) ?? []
  }

  /** Carries out a stream fault of the control API. @returns the number of open streams. */
  injectFault(spec: StreamFaultSpec): number {
    const connections = spec.login === null ? [...this.#connections] : [...this.of(spec.login)]
    this.#faults.apply(spec, this.#deps.now())
    for (const connection of connections) {
      if (spec.do === 'garble') connection.garble()
      if (spec.do !== 'drop') continue
      if (spec.code === null) connection.cut()
      else connection.close(spec.code, 'as ordered')
    }
    return connections.length
  }

  /** Ends the streams that were opened with a grant. */
  endGrant(grant: string): void {
    for (const connection of this.#connections)
      if (connection.pass?.grant === grant) connection.close(CLOSE.tokenEnded, 'the grant has ended')
  }

  /** The state of every login's streams. */
  report(): readonly { readonly login: string; readonly connections: readonly StreamConnection[] }[] {
    return [...this.#members]
      .filter(([, connections]) => connections.size > 0)
      .map(([login, connections]) => ({ login, connections: [...connections] }))
  }

  /** Closes all connections and clears the stream faults. */
  reset(): void {
    this.#faults.clear()
    for (const connection of this.#connections) connection.close(CLOSE.going, 'the sandbox has been reset')
  }

  /** Closes all connections; waits only briefly for the peers to answer. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    for (const connection of this.#connections) connection.close(CLOSE.going, 'the sandbox is shutting down')
    for (let waited = 0; this.#connections.size > 0 && waited < GOODBYE_MS; waited += 10) await wait(10)
    for (const connection of this.#connections) connection.terminate()
  }

  #leave(connection: StreamConnection): void {
    this.#connections.delete(connection)
    const login = connection.pass?.login
    if (login !== undefined) {
      const members = this.#members.get(login)
      members?.delete(connection)
      if (members?.size === 0) this.#members.delete(login)
    }
    this.#kind.left(connection)
  }

  #beat(): void {
    const as_of = this.#deps.stamp()
    const more = this.#kind.beat()
    for (const connection of this.#connections)
      if (connection.check()) connection.send({ ev: 'heartbeat', seq: connection.seq, ...more, as_of })
  }
}
