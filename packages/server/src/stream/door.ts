import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { within } from '@trunkline/core/app/within'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { WebSocketServer } from 'ws'
import { addressGroup } from '../auth/address.ts'
import { clientAddresses } from './addresses.ts'
import type { Line, Listener } from './line.ts'
import { OUTBOX_LIMITS, type OutboxLimits } from './outbox.ts'
import { type Refusal, refuseUpgrade } from './refusal.ts'
import { SocketLine } from './socket-line.ts'
import { Turns } from './turns.ts'

/** What opens sessions on the lines of one address. */
export interface Room {
  open(line: Line, address: string): Listener
  /** Whether a listener's client is known. */
  isKnown(listener: Listener): boolean
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
  /** Sockets whose client is not known yet, of the process and of one address. */
  readonly strangersMax: number
  readonly strangersOfAddressMax: number
}

export const DOOR_LIMITS: DoorLimits = {
  socketsMax: 10_000,
  strangersMax: 1_000,
  strangersOfAddressMax: 64,
  messageBytesMax: 64 * 1024,
  outbox: OUTBOX_LIMITS
}

export interface DoorOptions {
  /** By path, as in `/stream`. */
  readonly rooms: Readonly<Record<string, Room>>
  readonly trustedProxies: readonly string[]
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
  readonly #strangers = new Map<Listener, { readonly room: Room; readonly group: string }>()
  readonly #stopping = new AbortController()
  readonly #sweeping: Promise<void>
  #empty: (() => void) | null = null

  constructor(deps: { readonly clock: Clock; readonly log: Log }, options: DoorOptions) {
    this.#options = options
    this.#limits = { ...DOOR_LIMITS, ...options.limits }
    this.#clock = deps.clock
    this.#log = deps.log
    this.#turns = new Turns(this.#limits.outbox, () => deps.clock.monotonicMs())
    this.#addressOf = clientAddresses(options.trustedProxies)
    for (const room of new Set(Object.values(options.rooms))) {
      const maxPayload = room.limits?.messageBytesMax ?? this.#limits.messageBytesMax
      this.#sockets.set(
        room,
        new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload, ...BOUNDS })
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
    server.on('upgrade', (request, socket, head) => this.#receive(request, socket, head))
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
    const group = addressGroup(address)
    const refusal = room === undefined ? NO_STREAM : this.#refusal(group)
    if (room === undefined || refusal !== null) {
      refuseUpgrade(socket, refusal ?? NO_STREAM)
      return
    }
    this.#sockets.get(room)?.handleUpgrade(request, socket, head, ws => {
      socket.off('error', ignore)
      if ('setKeepAlive' in socket && typeof socket.setKeepAlive === 'function') socket.setKeepAlive(true, KEEP_ALIVE_MS)
      const line = new SocketLine(ws, socket, this.#turns, room.limits?.outbox ?? this.#limits.outbox, code => {
        this.#lines.delete(line)
        this.#strangers.delete(listener)
        this.#options.closed(code)
        if (this.#lines.size === 0) this.#empty?.()
      })
      this.#lines.add(line)
      const listener = room.open(line, address)
      this.#strangers.set(listener, { room, group })
      line.listen(listener, cause => this.#log.error('a session failed and its socket is closed', { cause }))
    })
  }

  /** Why nobody else may come in from there now; null when somebody may. */
  #refusal(group: string): Refusal | null {
    if (this.#stopping.signal.aborted) return STOPPING
    if (this.#lines.size >= this.#limits.socketsMax) return FULL
    const { strangersMax, strangersOfAddressMax } = this.#limits
    if (this.#strangers.size < strangersOfAddressMax) return null
    let sameAddress = 0
    for (const [listener, stranger] of this.#strangers) {
      if (stranger.room.isKnown(listener)) this.#strangers.delete(listener)
      else if (stranger.group === group) sameAddress += 1
    }
    return sameAddress >= strangersOfAddressMax || this.#strangers.size >= strangersMax ? STRANGERS : null
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      this.#turns.sweep()
      for (const [listener, { room }] of this.#strangers) if (room.isKnown(listener)) this.#strangers.delete(listener)
    }
  }
}

const NO_STREAM: Refusal = {
  code: 'route_not_found',
  message: 'There is no stream at this path; the broker stream is at /stream, market data at /market-data/stream.'
}
const STOPPING: Refusal = { code: 'shutting_down', message: 'The service is shutting down; try again.' }
const FULL: Refusal = { code: 'rate_limited', message: 'This service has as many sockets as it may; try again later.' }
const STRANGERS: Refusal = {
  code: 'rate_limited',
  message: 'Too many sockets that have not authenticated; authenticate those first, or try again in a few seconds.'
}

function ignore(): void {}
