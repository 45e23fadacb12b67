import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { within } from '@trunkline/core/app/time-limits'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { WebSocketServer } from 'ws'
import { AdmissionControl, type AdmissionLimits } from '../auth/admission-control.ts'
import { OriginLimiter } from '../auth/origin-limiter.ts'
import type { Rate } from '../auth/rate-limit.ts'
import { repeatedHeader } from '../auth/repeated-header.ts'
import { clientAddresses } from './addresses.ts'
import { CLOSE, type ClientConnection, type Listener } from './client-connection.ts'
import { FlushScheduler } from './flush-scheduler.ts'
import { type Refusal, refuseUpgrade } from './refusal.ts'
import { SEND_BUFFER_LIMITS, type SendBufferLimits } from './send-buffer-limits.ts'
import { SocketConnection } from './socket-connection.ts'

/** Opens the sessions of one path. */
export interface StreamEndpoint {
  /** `known` is called once the client is authenticated: until then its socket counts as unauthenticated. */
  open(client: ClientConnection, address: string, known: () => void): Listener
  /** Ends all sessions, each after its pending messages are sent. */
  finish(code: number, reason: string): void
  /** Limits of its connections; by default those of the gateway. */
  readonly limits?: Partial<ClientConnectionLimits>
}

export interface ClientConnectionLimits {
  readonly messageBytesMax: number
  readonly sendBuffer: SendBufferLimits
}

export interface GatewayLimits extends ClientConnectionLimits {
  /** Sockets of the process. */
  readonly socketsMax: number
  /** Sockets that have not authenticated. */
  readonly unauthenticated: AdmissionLimits
  /** Handshakes of one address; of one network four times as many. Each costs a socket, a session and its unauthenticated requests. */
  readonly handshakes: Rate
}

export const GATEWAY_LIMITS: GatewayLimits = {
  socketsMax: 12_000,
  unauthenticated: { total: 1_000, perAddress: 256, perNetwork: 512, graceMs: 5_000 },
  // A platform's thousands of sockets may all reconnect at once from one address.
  handshakes: { perSecond: 200, burst: 4_000 },
  messageBytesMax: 64 * 1024,
  sendBuffer: SEND_BUFFER_LIMITS
}

export interface GatewayOptions {
  /** By path, as in `/stream`. */
  readonly endpoints: Readonly<Record<string, StreamEndpoint>>
  readonly trustedProxies: readonly string[]
  /** Whether a web page of that origin may connect to the endpoint. Clients other than browsers send no origin and are not checked. */
  readonly mayOpen?: (endpoint: StreamEndpoint, origin: string) => boolean
  readonly limits?: Partial<GatewayLimits>
  /** Opens the sessions that other nodes pass through. */
  readonly ofOtherNodes?: StreamEndpoint
  /** Called with the code of every close. */
  readonly closed: (code: number) => void
}

const SWEEP_MS = 1_000
const CLOSE_MS = 5_000
const KEEP_ALIVE_MS = 30_000
/** Options of `ws` that its type declarations lack. */
const BOUNDS = { maxFragments: 64, maxBufferedChunks: 256, closeTimeout: CLOSE_MS }

/** Accepts WebSocket connections: admission, limits and shutdown. */
export class StreamGateway {
  readonly #options: GatewayOptions
  readonly #limits: GatewayLimits
  readonly #clock: Clock
  readonly #log: Log
  readonly #scheduler: FlushScheduler
  readonly #sockets = new Map<StreamEndpoint, WebSocketServer>()
  readonly #addressOf: (request: IncomingMessage) => string
  readonly #clients = new Set<SocketConnection>()
  readonly #lines = new WeakMap<IncomingMessage, readonly string[]>()
  readonly #unauthenticated: AdmissionControl<SocketConnection>
  readonly #handshakes: OriginLimiter
  readonly #stopping = new AbortController()
  readonly #sweeping: Promise<void>
  #empty: (() => void) | null = null

  constructor(deps: { readonly clock: Clock; readonly log: Log }, options: GatewayOptions) {
    this.#options = options
    this.#limits = { ...GATEWAY_LIMITS, ...options.limits }
    this.#clock = deps.clock
    this.#log = deps.log
    this.#unauthenticated = new AdmissionControl(this.#limits.unauthenticated, () => deps.clock.monotonicMs())
    this.#handshakes = new OriginLimiter(this.#limits.handshakes)
    this.#scheduler = new FlushScheduler(this.#limits.sendBuffer, () => deps.clock.monotonicMs())
    this.#addressOf = clientAddresses(options.trustedProxies)
    const { ofOtherNodes } = options
    for (const endpoint of new Set([...Object.values(options.endpoints), ...(ofOtherNodes === undefined ? [] : [ofOtherNodes])])) {
      const maxPayload = endpoint.limits?.messageBytesMax ?? this.#limits.messageBytesMax
      const server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        autoPong: false,
        maxPayload,
        ...BOUNDS
      })
      server.on('wsClientError', ({ message }, socket) =>
        refuseUpgrade(socket, { ...MALFORMED, message: `${message}. ${MALFORMED.message}` })
      )
      server.on('headers', (lines, request) => void lines.push(...(this.#lines.get(request) ?? [])))
      this.#sockets.set(endpoint, server)
    }
    this.#sweeping = this.#sweep()
  }

  get sockets(): number {
    return this.#clients.size
  }

  /** Bytes buffered for readers that have stalled. */
  get waitingBytes(): number {
    return this.#scheduler.waitingBytes
  }

  /** Begins to accept the server's WebSocket connections. */
  guard(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      try {
        this.#receive(request, socket, head)
      } catch (cause) {
        // An error of one socket ends only that socket.
        this.#log.error('a WebSocket connection could not be accepted', { cause })
        socket.destroy()
      }
    })
  }

  /**
   * Accepts a connection that another node passes through for a client at `address`. The client's node has applied the limits.
   * @param lines headers of the answer
   */
  passThrough(request: IncomingMessage, socket: Duplex, head: Buffer, address: string, lines: readonly string[] = []): void {
    const { ofOtherNodes } = this.#options
    if (ofOtherNodes === undefined || this.#stopping.signal.aborted) socket.destroy()
    else {
      this.#lines.set(request, lines)
      this.#accept(ofOtherNodes, address, [request, socket, head])
    }
  }

  /** Accepts no further connection; open sessions are closed after their pending messages are sent. */
  async stop(code: number, reason: string): Promise<void> {
    this.#stopping.abort()
    for (const endpoint of new Set(Object.values(this.#options.endpoints))) endpoint.finish(code, reason)
    if (this.#clients.size > 0) {
      const empty = new Promise<true>(resolve => {
        this.#empty = () => resolve(true)
      })
      if ((await within(this.#clock, empty, CLOSE_MS)) === null) this.#log.warn('sockets are cut', { sockets: this.#clients.size })
      for (const client of this.#clients) client.cut()
    }
    await this.#sweeping
  }

  #receive(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', ignore)
    const [path = ''] = (request.url ?? '').split('?')
    const endpoint = Object.hasOwn(this.#options.endpoints, path) ? this.#options.endpoints[path] : undefined
    const address = this.#addressOf(request)
    const isTooFast = this.#handshakes.take(address, this.#clock.monotonicMs()) !== null
    const refusal = isTooFast
      ? TOO_FAST
      : endpoint === undefined
        ? NO_STREAM
        : (this.#refusal(request, endpoint) ?? this.#capacityRefusal(address))
    if (endpoint === undefined || refusal !== null) {
      refuseUpgrade(socket, refusal ?? NO_STREAM)
      return
    }
    this.#accept(endpoint, address, [request, socket, head])
  }

  #accept(endpoint: StreamEndpoint, address: string, upgrade: readonly [IncomingMessage, Duplex, Buffer]): void {
    const [, socket] = upgrade
    this.#sockets.get(endpoint)?.handleUpgrade(...upgrade, ws => {
      socket.off('error', ignore)
      if ('setKeepAlive' in socket && typeof socket.setKeepAlive === 'function') socket.setKeepAlive(true, KEEP_ALIVE_MS)
      this.#open(endpoint, address, closed => {
        const limits = endpoint.limits?.sendBuffer ?? this.#limits.sendBuffer
        return new SocketConnection(ws, socket, { scheduler: this.#scheduler, clock: this.#clock, limits, closed })
      })
    })
  }

  #open(endpoint: StreamEndpoint, address: string, createClient: (gone: (code: number) => void) => SocketConnection): void {
    const client = createClient(code => {
      this.#clients.delete(client)
      this.#unauthenticated.delete(client)
      this.#options.closed(code)
      if (this.#clients.size === 0) this.#empty?.()
    })
    this.#clients.add(client)
    this.#unauthenticated.add(client, address)
    const listener = endpoint.open(client, address, () => void this.#unauthenticated.delete(client))
    client.listen(listener, cause => this.#log.error('a session failed and its socket is closed', { cause }))
  }

  /** Why this connection is refused; null if it is accepted. */
  #refusal({ method, headers, rawHeaders }: IncomingMessage, endpoint: StreamEndpoint): Refusal | null {
    if (this.#stopping.signal.aborted) return STOPPING
    if (method !== 'GET' || hasBody(headers) || repeatedHeader(rawHeaders) !== null) return MALFORMED
    const { origin } = headers
    // A page without an origin (a file, a sandboxed frame) sends "null", and so does every other such page.
    if (origin !== undefined && (origin === 'null' || this.#options.mayOpen?.(endpoint, origin) === false)) return ORIGIN_NOT_ALLOWED
    return null
  }

  /** Why another connection of the address is refused; null if there is capacity. */
  #capacityRefusal(address: string): Refusal | null {
    const admission = this.#unauthenticated.admit(address)
    if (!admission.isAdmitted) return TOO_MANY_UNAUTHENTICATED
    if (admission.evicted !== null) evict(admission.evicted)
    return this.#clients.size >= this.#limits.socketsMax && admission.evicted === null && !this.#evictOne() ? FULL : null
  }

  #evictOne(): boolean {
    const evicted = this.#unauthenticated.evict()
    if (evicted === null) return false
    evict(evicted)
    return true
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      this.#scheduler.sweep()
    }
  }
}

function evict(client: SocketConnection): void {
  client.drop(CLOSE.unauthenticated, 'not authenticated, and others are waiting to connect')
}

function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingMessage['headers']): boolean {
  return encoding !== undefined || (length !== undefined && length !== '0')
}

const NO_STREAM: Refusal = {
  code: 'route_not_found',
  message: 'There is no stream at this path; the broker stream is at /stream, market data at /market-data/stream.'
}
const STOPPING: Refusal = { code: 'shutting_down', message: 'The service is shutting down; try again.' }
const FULL: Refusal = { code: 'rate_limited', message: 'This service has reached its limit of sockets; try again later.' }
const TOO_FAST: Refusal = {
  code: 'rate_limited',
  message: 'Too many handshakes from this address. Wait as long as the retry-after header says, then go slower.'
}
const TOO_MANY_UNAUTHENTICATED: Refusal = {
  code: 'rate_limited',
  message: 'Too many sockets of this address or network wait for their authentication. Retry after the time in the retry-after header.'
}
const MALFORMED: Refusal = {
  code: 'upgrade_malformed',
  message:
    'A WebSocket handshake is one GET request without a body, with one Upgrade header and no other header twice that may be there once, as Host and Origin.'
}
const ORIGIN_NOT_ALLOWED: Refusal = {
  code: 'origin_not_allowed',
  message: 'Web pages of this origin may not open this stream; connect from your server, or have the operator allow the origin.'
}

function ignore(): void {}
