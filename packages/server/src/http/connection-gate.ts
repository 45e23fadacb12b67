import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@trunkline/core/ports/clock'
import { Crowd } from '../auth/crowd.ts'

export interface ConnectionLimits {
  /** TCP connections of the process, WebSockets included. */
  readonly total: number
  /** Connections on which no request has come yet, of one IPv4 address or IPv6 /64. */
  readonly silentPerAddress: number
  /** The same of one IPv4 /24 or IPv6 /48. */
  readonly silentPerNetwork: number
  /** How long a reader may take nothing of what waits for it. */
  readonly stalledMs: number
}

/** A client may open hundreds at once before its first request is read, so these are far above what one needs, and far below the total. */
export const CONNECTION_LIMITS: ConnectionLimits = { total: 15_000, silentPerAddress: 2_048, silentPerNetwork: 4_096, stalledMs: 8_000 }

/** Silent connections this old are the first to make room. */
const GRACE_MS = 5_000
const SWEEP_MS = 1_000
/** Sockets that were closed and are still counted by the server until the turn is over. */
const CLOSING_MAX = 1_000

interface Waiting {
  readonly since: number
  readonly left: number
}

/**
 * The server's TCP connections. A newcomer is always taken in as long as another connection has nothing to do: those that never sent a
 * request go first, then those that are kept alive for another one. What waits for a reader that takes nothing ends with its connection.
 */
export class ConnectionGate {
  readonly #limits: ConnectionLimits
  readonly #clock: Clock
  /** Whether connections from there are of many clients, as a proxy's are. */
  readonly #isShared: (ip: string) => boolean
  readonly #all = new Set<Socket>()
  /** No request has come on them. */
  readonly #silent: Crowd<Socket>
  /** Kept alive after an answer, longest first. */
  readonly #idle = new Set<Socket>()
  /** Answers that somebody has to take: since when nothing was taken, and how much was left then. */
  readonly #waiting = new Map<Socket, Waiting>()
  readonly #stopping = new AbortController()

  constructor(clock: Clock, limits: ConnectionLimits, isShared: (ip: string) => boolean) {
    this.#clock = clock
    this.#limits = limits
    this.#isShared = isShared
    const { total, silentPerAddress: perAddress, silentPerNetwork: perNetwork } = limits
    const half = Math.ceil(total / 2)
    const groups = { perAddress: Math.min(perAddress, half), perNetwork: Math.min(perNetwork, half) }
    this.#silent = new Crowd({ total, ...groups, graceMs: GRACE_MS }, () => clock.monotonicMs())
  }

  get connections(): number {
    return this.#all.size
  }

  guard(server: Server): void {
    server.maxConnections = this.#limits.total + CLOSING_MAX
    server.on('connection', socket => this.#came(socket))
    server.prependListener('request', (request, response) => this.#asked(request, response))
    server.prependListener('upgrade', ({ socket }) => this.#busy(socket))
    server.once('close', () => this.#stopping.abort())
    server.once('listening', () => void this.#sweep())
  }

  #came(socket: Socket): void {
    if (this.#all.size >= this.#limits.total && !this.#madeRoom()) {
      socket.destroy()
      return
    }
    this.#all.add(socket)
    socket.once('close', () => this.#gone(socket))
    const ip = socket.remoteAddress ?? null
    const surplus = this.#silent.add(socket, ip === null || this.#isShared(ip) ? null : ip)
    if (surplus !== null) this.#drop(surplus)
  }

  /** False when all connections are at work. */
  #madeRoom(): boolean {
    const [longestIdle = null] = this.#idle
    const leaver = this.#silent.evict() ?? longestIdle
    if (leaver !== null) this.#drop(leaver)
    return leaver !== null
  }

  #drop(socket: Socket): void {
    this.#gone(socket)
    socket.destroy()
  }

  #asked({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#busy(socket)
    response.once('close', () => {
      if (this.#all.has(socket) && !socket.destroyed) this.#idle.add(socket)
    })
  }

  #busy(socket: Socket): void {
    this.#silent.delete(socket)
    this.#idle.delete(socket)
  }

  #gone(socket: Socket): void {
    this.#all.delete(socket)
    this.#silent.delete(socket)
    this.#idle.delete(socket)
    this.#waiting.delete(socket)
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      for (const socket of this.#all) this.#judge(socket)
    }
  }

  #judge(socket: Socket): void {
    const left = bytesLeft(socket)
    const before = this.#waiting.get(socket)
    if (left === 0) {
      if (before !== undefined) this.#waiting.delete(socket)
      return
    }
    const now = this.#clock.monotonicMs()
    if (before === undefined || left < before.left) this.#waiting.set(socket, { since: now, left })
    else if (now - before.since >= this.#limits.stalledMs) socket.destroy()
  }
}

/** Bytes the reader's side has not taken yet. A write under way counts whole until it is done, so what the handle has left of it is asked for. */
function bytesLeft(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  const handle: unknown = Reflect.get(socket, '_handle')
  const queued: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0
  return socket.writableLength + (typeof queued === 'number' ? queued : 0)
}
