import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { within } from '@trunkline/core/app/within'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { WebSocketServer } from 'ws'
import { Crowd, type CrowdLimits } from '../auth/crowd.ts'
import { OriginLimiter } from '../auth/origin-limiter.ts'
import type { Rate } from '../auth/rate-limit.ts'
import { repeatedHeader } from '../auth/repeated-header.ts'
import { clientAddresses } from './addresses.ts'
import { CLOSE, type Line, type Listener } from './line.ts'
import { OUTBOX_LIMITS, type OutboxLimits } from './outbox.ts'
import { type Refusal, refuseUpgrade } from './refusal.ts'
import { SocketLine } from './socket-line.ts'
import { Turns } from './turns.ts'

/** What opens sessions on the lines of one address. */
export interface Room {
  /** `known` is called once the client is known: its socket counts as unauthenticated until then. */
  open(line: Line, address: string, known: () => void): Listener
  /** Ends all sessions, each after what it is owed. */
  finish(code: number, reason: string): void
  /** What its lines bear; the door's own limits where it says nothing. */
  readonly limits?: Partial<LineLimits>
}

export interface LineLimits {
  readonly messageBytesMax: number
  readonly outbox: OutboxLimits
}

export interface DoorLimits extends LineLimits {
  /** Sockets of the process. */
  readonly socketsMax: number
  /** Sockets that have not authenticated. */
  readonly unauthenticated: CrowdLimits
  /** Handshakes of one address; of one network four times as many. Each costs a socket, a session and what it may ask before it is known. */
  readonly handshakes: Rate
}

export const DOOR_LIMITS: DoorLimits = {
  socketsMax: 12_000,
  unauthenticated: { total: 1_000, perAddress: 256, perNetwork: 512, graceMs: 5_000 },
  // A platform's thousands of sockets may all come back at once, by one address.
  handshakes: { perSecond: 200, burst: 4_000 },
  messageBytesMax: 64 * 1024,
  outbox: OUTBOX_LIMITS
}

export interface DoorOptions {
  /** By path, as in `/stream`. */
  readonly rooms: Readonly<Record<string, Room>>
  readonly trustedProxies: readonly string[]
  /** Whether a web page of that origin may open a socket of the room. Clients that are no browsers tell no origin and are not asked about. */
  readonly mayOpen?: (room: Room, origin: string) => boolean
  readonly limits?: Partial<DoorLimits>
  /** Told the code of every close. */
  readonly closed: (code: number) => void
}

const SWEEP_MS = 1_000
const CLOSE_MS = 5_000
const KEEP_ALIVE_MS = 30_000
/** Options of `ws` that its type declarations do not know yet. */
const BOUNDS = { maxFragments: 64, maxBufferedChunks: 256, closeTimeout: CLOSE_MS }

/** Where WebSocket connections come in: who may, how many, and how they all leave. */
export class Door {
  readonly #options: DoorOptions
  readonly #limits: DoorLimits
  readonly #clock: Clock
  readonly #log: Log
  readonly #turns: Turns
  readonly #sockets = new Map<Room, WebSocketServer>()
  readonly #addressOf: (request: IncomingMessage) => string
  readonly #lines = new Set<SocketLine>()
  readonly #unauthenticated: Crowd<SocketLine>
  readonly #handshakes: OriginLimiter
  readonly #stopping = new AbortController()
  readonly #sweeping: Promise<void>
  #empty: (() => void) | null = null

  constructor(deps: { readonly clock: Clock; readonly log: Log }, options: DoorOptions) {
    this.#options = options
    this.#limits = { ...DOOR_LIMITS, ...options.limits }
    this.#clock = deps.clock
    this.#log = deps.log
    this.#unauthenticated = new Crowd(this.#limits.unauthenticated, () => deps.clock.monotonicMs())
    this.#handshakes = new OriginLimiter(this.#limits.handshakes)
    this.#turns = new Turns(this.#limits.outbox, () => deps.clock.monotonicMs())
    this.#addressOf = clientAddresses(options.trustedProxies)
    for (const room of new Set(Object.values(options.rooms))) {
      const maxPayload = room.limits?.messageBytesMax ?? this.#limits.messageBytesMax
      this.#sockets.set(
        room,
        new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, autoPong: false, maxPayload, ...BOUNDS })
      )
    }
    this.#sweeping = this.#sweep()
  }

  get sockets(): number {
    return this.#lines.size
  }

  /** Bytes that wait for readers who take nothing. */
  get waitingBytes(): number {
    return this.#turns.waitingBytes
  }

  /** Takes the server's WebSocket connections from here on. */
  guard(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      try {
        this.#receive(request, socket, head)
      } catch (cause) {
        // Whatever is wrong with one socket ends that socket.
        this.#log.error('a WebSocket connection could not be taken', { cause })
        socket.destroy()
      }
    })
  }

  /** Nobody else comes in; those inside get everything they are owed, and are told to go. */
  async stop(code: number, reason: string): Promise<void> {
    this.#stopping.abort()
    for (const room of new Set(Object.values(this.#options.rooms))) room.finish(code, reason)
    if (this.#lines.size > 0) {
      const empty = new Promise<true>(resolve => {
        this.#empty = () => resolve(true)
      })
      if ((await within(this.#clock, empty, CLOSE_MS)) === null) this.#log.warn('sockets are cut', { sockets: this.#lines.size })
      for (const line of this.#lines) line.cut()
    }
    await this.#sweeping
  }

  #receive(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', ignore)
    const [path = ''] = (request.url ?? '').split('?')
    const room = Object.hasOwn(this.#options.rooms, path) ? this.#options.rooms[path] : undefined
    const address = this.#addressOf(request)
    const isTooFast = this.#handshakes.take(address, this.#clock.monotonicMs()) !== null
    const refusal = isTooFast ? TOO_FAST : room === undefined ? NO_STREAM : (this.#refusal(request, room) ?? this.#crowdedOut(address))
    if (room === undefined || refusal !== null) {
      refuseUpgrade(socket, refusal ?? NO_STREAM)
      return
    }
    this.#sockets.get(room)?.handleUpgrade(request, socket, head, ws => {
      socket.off('error', ignore)
      if ('setKeepAlive' in socket && typeof socket.setKeepAlive === 'function') socket.setKeepAlive(true, KEEP_ALIVE_MS)
      this.#open(room, address, gone => new SocketLine(ws, socket, this.#turns, room.limits?.outbox ?? this.#limits.outbox, gone))
    })
  }

  #open(room: Room, address: string, lineOf: (gone: (code: number) => void) => SocketLine): void {
    const line = lineOf(code => {
      this.#lines.delete(line)
      this.#unauthenticated.delete(line)
      this.#options.closed(code)
      if (this.#lines.size === 0) this.#empty?.()
    })
    this.#lines.add(line)
    this.#unauthenticated.add(line, address)
    const listener = room.open(line, address, () => void this.#unauthenticated.delete(line))
    line.listen(listener, cause => this.#log.error('a session failed and its socket is closed', { cause }))
  }

  /** Why this connection is not taken; null when it is. */
  #refusal({ method, headers, rawHeaders }: IncomingMessage, room: Room): Refusal | null {
    if (this.#stopping.signal.aborted) return STOPPING
    if (method !== 'GET' || hasBody(headers) || repeatedHeader(rawHeaders) !== null) return MALFORMED
    const { origin } = headers
    // A page without an origin of its own (a file, a sandboxed frame) tells "null", and so does every other such page.
    if (origin !== undefined && (origin === 'null' || this.#options.mayOpen?.(room, origin) === false)) return FOREIGN
    return null
  }

  /** Why there is no room for one more of that address; null when there is. */
  #crowdedOut(address: string): Refusal | null {
    const room = this.#unauthenticated.makeRoom(address)
    if (!room.isAdmitted) return CROWDED
    if (room.leaver !== null) leave(room.leaver)
    return this.#lines.size >= this.#limits.socketsMax && room.leaver === null && !this.#madeRoom() ? FULL : null
  }

  #madeRoom(): boolean {
    const leaver = this.#unauthenticated.evict()
    if (leaver === null) return false
    leave(leaver)
    return true
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      this.#turns.sweep()
    }
  }
}

function leave(line: SocketLine): void {
  line.drop(CLOSE.unauthenticated, 'not authenticated, and others wait for a place')
}

function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingMessage['headers']): boolean {
  return encoding !== undefined || (length !== undefined && length !== '0')
}

const NO_STREAM: Refusal = {
  code: 'route_not_found',
  message: 'There is no stream at this path; the broker stream is at /stream, market data at /market-data/stream.'
}
const STOPPING: Refusal = { code: 'shutting_down', message: 'The service is shutting down; try again.' }
const FULL: Refusal = { code: 'rate_limited', message: 'This service has as many sockets as it may; try again later.' }
const TOO_FAST: Refusal = {
  code: 'rate_limited',
  message: 'Too many handshakes from this address. Wait as long as the retry-after header says, then go slower.'
}
const CROWDED: Refusal = {
  code: 'rate_limited',
  message: 'Too many sockets of this address or network wait for their authentication. Come again as soon as the retry-after header says.'
}
const MALFORMED: Refusal = {
  code: 'upgrade_malformed',
  message:
    'A WebSocket handshake is one GET request without a body, with one Upgrade header and no other header twice that may be there once, as Host and Origin.'
}
const FOREIGN: Refusal = {
  code: 'origin_not_allowed',
  message: 'Web pages of this origin may not open this stream; connect from your server, or have the operator allow the origin.'
}

function ignore(): void {}
