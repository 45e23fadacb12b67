import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '@trunkline/core/ports/log'
import { InFlight } from '../../http/in-flight.ts'
import { markPassedOn } from '../../http/passed-on.ts'
import { type NodeMessageHandler, takeMessage } from './node-messages.ts'
import { MARKET_PATH } from './owner-market-sessions.ts'
import type { Verifier } from './signature.ts'
import { UnprovenConnections, type UnprovenLimits } from './unproven-connections.ts'

/** The client's headers may have 16 KiB; the signature comes on top. */
const HEADER_BYTES_MAX = 20 * 1024
/** A node sends a request at once, because it has the whole. */
const HEADERS_MS = 5_000
const REQUEST_MS = 15_000
/** Longer than senders keep idle connections, so that it is they who close. */
const KEEP_ALIVE_MS = 72_000
const CHECK_MS = 1_000
const SWEEP_MS = 50

export interface NodeListenerOptions {
  /** Connections at once, over all nodes. */
  readonly connectionsMax: number
  /** Of them, those on which no node has signed anything yet. */
  readonly unproven: UnprovenLimits
  /** Handles a request of another node: the routing of the public server. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void
  /** Handlers of the nodes' own messages, by path. */
  readonly messages?: Readonly<Record<string, NodeMessageHandler>>
  /** Takes a market data session that another node passes through for a client at `address`. */
  readonly passThrough?: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string) => void
}

/**
 * Takes requests of other nodes. Whatever is not signed by a node is closed without an answer. The limits of the public server for
 * connections and addresses do not apply here: they were applied where the client connected.
 */
export class NodeListener {
  readonly #server: Server
  readonly #inFlight: InFlight
  readonly #unproven: UnprovenConnections

  constructor(verifier: Verifier, log: Log, { connectionsMax, unproven, serve, messages = {}, passThrough }: NodeListenerOptions) {
    this.#unproven = new UnprovenConnections(unproven)
    this.#server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        // Node would answer what has none.
        requireHostHeader: false,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
        noDelay: true
      },
      (request, response) => {
        const passedOn = verifier.verify({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
        if (passedOn === null) {
          log.debug('a request that no node signed was closed', { address: request.socket.remoteAddress })
          request.socket.destroy()
          return
        }
        this.#unproven.proved(request.socket)
        const { url = '' } = request
        const handle = Object.hasOwn(messages, url) ? messages[url] : undefined
        if (handle !== undefined) return void takeMessage(request, response, passedOn, handle, log)
        markPassedOn(request, passedOn)
        serve(request, response)
      }
    )
    this.#server.maxConnections = connectionsMax
    this.#server.on('connection', socket => this.#unproven.add(socket))
    this.#server.on('clientError', (_error, socket) => socket.destroy())
    // Without a listener Node itself would answer these.
    for (const event of ['checkContinue', 'checkExpectation'] as const) {
      this.#server.on(event, (request: IncomingMessage) => request.socket.destroy())
    }
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined)
      const passedOn = request.url === MARKET_PATH ? verifier.verify({ method: 'GET', url: MARKET_PATH, headers: request.headers }) : null
      if (passedOn === null || request.method !== 'GET' || passThrough === undefined) return void socket.destroy()
      this.#unproven.proved(request.socket)
      passThrough(request, socket, head, passedOn.address)
    })
    this.#inFlight = new InFlight(this.#server)
  }

  /** Connections on which no node has signed anything yet. */
  get unproven(): number {
    return this.#unproven.count
  }

  /** Returns the bound port. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, resolve)
    })
    return portOf(this.#server.address())
  }

  /** Resolves when every request has its response. */
  idle(): Promise<void> {
    return this.#inFlight.idle()
  }

  /** Takes no further connection. Resolves when the last request has its response. */
  async stop(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    // A connection that becomes idle later would stay open.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS)
    await closed
    clearInterval(sweep)
  }

  /** Ends every connection. */
  cut(): void {
    this.#server.closeAllConnections()
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
