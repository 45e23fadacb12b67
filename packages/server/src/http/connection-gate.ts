import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@trunkline/core/ports/clock'
import { ByOrigin, type Origin, originOf } from '../auth/by-origin.ts'
import { HTTP_STATUS, type Problem } from './problems.ts'
import { rawAnswer } from './raw-answer.ts'
import { StalledReaders } from './stalled-readers.ts'

export interface ConnectionLimits {
  /** TCP connections of the process, WebSockets included. */
  readonly total: number
  /** Connections from one IPv4 address or IPv6 /64 on which no complete request has had valid credentials yet. */
  readonly unprovenPerAddress: number
  /** The same for one IPv4 /24 or IPv6 /48. */
  readonly unprovenPerNetwork: number
  /** How long a client may read nothing while response bytes wait for it. */
  readonly stalledMs: number
}

/** A client may open hundreds of connections before its first request is read. The limits are far above that and far below the total. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  total: 15_000,
  unprovenPerAddress: 2_048,
  unprovenPerNetwork: 4_096,
  stalledMs: 8_000
}

/** Connections that have been silent for this long are evicted first. */
const GRACE_MS = 5_000
const SWEEP_MS = 1_000
/** Allowance for closed sockets, which the server still counts until the end of the turn of the event loop. */
const CLOSING_MAX = 1_000

interface Connection {
  readonly socket: Socket
  readonly origin: Origin | null
  /** Monotonic milliseconds. */
  silentSince: number
  hasRequested: boolean
  /** The request whose body is incomplete; null between requests. */
  incoming: IncomingMessage | null
  /** Several if requests are pipelined. */
  readonly unanswered: Set<IncomingMessage>
  isProven: boolean
  isWebSocket: boolean
}

/**
 * Limits the server's TCP connections. At the total, a new connection evicts an old one, in this order:
 * 1. connections silent for longer than the grace period;
 * 2. idle keep-alive connections, those without valid credentials first: the longest idle of the address that has most of them;
 * 3. connections silent for a shorter time.
 *
 * A connection is silent if it has sent no request, or one whose body is incomplete. A connection on which a complete request waits for its
 * response is never evicted. A connection counts for its address and network until a complete request on it has had valid credentials. At
 * those limits the same order applies among the connections counted there, without step 3. If none can be evicted, the new connection is
 * refused with retry-after. A client that does not read its responses loses its connection.
 */
export class ConnectionGate {
  readonly #limits: ConnectionLimits
  readonly #clock: Clock
  /** Whether an address stands for many clients, as a trusted proxy's does. */
  readonly #isShared: (ip: string) => boolean
  readonly #connections = new Map<Socket, Connection>()
  readonly #unproven = new ByOrigin<Connection>()
  readonly #silent = new ByOrigin<Connection>()
  /** Idle keep-alive connections, longest idle first, with and without valid credentials. */
  readonly #idle = { unproven: new ByOrigin<Connection>(), proven: new ByOrigin<Connection>() }
  readonly #readers: StalledReaders
  readonly #stopping = new AbortController()

  constructor(clock: Clock, limits: ConnectionLimits, isShared: (ip: string) => boolean) {
    const half = Math.ceil(limits.total / 2)
    this.#clock = clock
    this.#limits = {
      ...limits,
      unprovenPerAddress: Math.min(limits.unprovenPerAddress, half),
      unprovenPerNetwork: Math.min(limits.unprovenPerNetwork, half)
    }
    this.#isShared = isShared
    this.#readers = new StalledReaders(limits.stalledMs)
  }

  get connections(): number {
    return this.#connections.size
  }

  guard(server: Server): void {
    server.maxConnections = this.#limits.total + CLOSING_MAX
    // Before the server's own listener, so that a refused connection is never read.
    server.prependListener('connection', socket => this.#onConnection(socket))
    server.prependListener('request', (request, response) => this.#onRequest(request, response))
    server.prependListener('upgrade', ({ socket }) => this.#onUpgrade(socket))
    server.once('close', () => this.#stopping.abort())
    server.once('listening', () => void this.#sweep())
  }

  /** Records that the request's credentials are valid. Once the request is complete, its connection no longer counts for its address. */
  proved(request: IncomingMessage): void {
    const connection = this.#connections.get(request.socket)
    if (connection === undefined || connection.isProven) return
    if (connection.incoming === request && !request.complete) {
      request.once('end', () => this.#settle(connection))
      return
    }
    this.#settle(connection)
  }

  #onConnection(socket: Socket): void {
    const ip = socket.remoteAddress ?? null
    const origin = ip === null || this.#isShared(ip) ? null : originOf(ip)
    if (!this.#admit(origin)) {
      refuse(socket)
      return
    }
    const connection: Connection = {
      ...{ socket, origin, silentSince: this.#clock.monotonicMs(), hasRequested: false, incoming: null },
      ...{ unanswered: new Set<IncomingMessage>(), isProven: false, isWebSocket: false }
    }
    this.#connections.set(socket, connection)
    this.#unproven.add(connection, origin)
    this.#silent.add(connection, origin)
    socket.once('close', () => this.#forget(connection))
  }

  /** False if no connection can be evicted, because all are busy or within the grace period. */
  #admit(origin: Origin | null): boolean {
    const { total, unprovenPerAddress, unprovenPerNetwork } = this.#limits
    const bounds = [
      { kind: 'addresses', group: origin?.address, max: unprovenPerAddress },
      { kind: 'networks', group: origin?.network, max: unprovenPerNetwork }
    ] as const
    for (const { kind, group, max } of bounds) {
      if (group === undefined || this.#unproven[kind].sizeOf(group) < max) continue
      const evicted = this.#pastGrace(this.#silent[kind].of(group)) ?? this.#idle.unproven[kind].oldestOf(group)
      if (evicted === null) return false
      this.#drop(evicted)
    }
    if (this.#connections.size < total) return true
    const evicted = this.#nextOfAll()
    if (evicted !== null) this.#drop(evicted)
    return evicted !== null
  }

  #nextOfAll(): Connection | null {
    const { unproven, proven } = this.#idle
    return (
      this.#pastGrace(this.#silent) ??
      unproven.addresses.oldestOfLargest() ??
      unproven.oldest ??
      proven.addresses.oldestOfLargest() ??
      proven.oldest ??
      this.#silentOfMostCrowded()
    )
  }

  /** The connection that has been silent longest, if that is longer than the grace period. */
  #pastGrace(silent: Iterable<Connection>): Connection | null {
    for (const connection of silent) {
      // The body may have arrived completely without its `end` having been emitted yet.
      if (connection.incoming?.complete === true) this.#reclassify(connection)
      else return this.#clock.monotonicMs() - connection.silentSince >= GRACE_MS ? connection : null
    }
    return null
  }

  #silentOfMostCrowded(): Connection | null {
    for (;;) {
      const next = this.#silent.networks.oldestOfLargest() ?? this.#silent.oldest
      if (next === null || next.incoming?.complete !== true) return next
      this.#reclassify(next)
    }
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket)
    if (connection === undefined) return
    connection.hasRequested = true
    connection.unanswered.add(request)
    if (hasBody(request)) {
      connection.incoming = request
      connection.silentSince = this.#clock.monotonicMs()
      this.#silent.delete(connection)
      request.once('end', () => this.#reclassify(connection))
    }
    response.once('close', () => {
      connection.unanswered.delete(request)
      this.#reclassify(connection)
    })
    this.#reclassify(connection)
  }

  #onUpgrade(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    connection.isWebSocket = true
    this.#unproven.delete(connection)
    this.#reclassify(connection)
  }

  #settle(connection: Connection): void {
    connection.isProven = true
    this.#unproven.delete(connection)
    this.#reclassify(connection)
  }

  /** Moves a connection to the pool it may be evicted from, or out of all pools. */
  #reclassify(connection: Connection): void {
    if (connection.incoming?.complete === true) connection.incoming = null
    const pool = this.#connections.has(connection.socket) ? this.#poolOf(connection) : null
    for (const other of [this.#silent, this.#idle.unproven, this.#idle.proven]) if (other !== pool) other.delete(connection)
    // A connection that proved credentials no longer counts for its address, and is evicted only for the total.
    pool?.add(connection, connection.isProven && pool === this.#silent ? null : connection.origin)
  }

  /** Null if it is busy. */
  #poolOf({ incoming, unanswered, hasRequested, isProven, isWebSocket }: Connection): ByOrigin<Connection> | null {
    const partial = incoming !== null && unanswered.has(incoming) ? 1 : 0
    if (isWebSocket || unanswered.size > partial) return null
    if (incoming !== null || !hasRequested) return this.#silent
    return isProven ? this.#idle.proven : this.#idle.unproven
  }

  #drop(connection: Connection): void {
    this.#forget(connection)
    connection.socket.destroy()
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection.socket)
    this.#unproven.delete(connection)
    this.#reclassify(connection)
    this.#readers.forget(connection.socket)
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      const now = this.#clock.monotonicMs()
      for (const socket of this.#connections.keys()) this.#readers.judge(socket, now)
    }
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

const FULL: Problem = {
  ...{ status: HTTP_STATUS.rate_limited, code: 'rate_limited', details: [], retryAfterSeconds: 1, unexpected: false },
  message: 'There are too many connections, from this address or in total. Wait for the time in the retry-after header, then try again.'
}

/** Closes in the same turn of the event loop, so that nothing the client sent is read or executed. */
function refuse(socket: Socket): void {
  socket.on('error', () => undefined)
  socket.write(rawAnswer(FULL, randomUUID()), () => socket.destroy())
}
