import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '@trunkline/core/ports/log'
import { InFlight } from '../../http/in-flight.ts'
import { BETWEEN_NODES } from '../../http/passed-on.ts'
import { acceptLink, LINK_PATH } from './link-opening.ts'
import { LinkServer, type Serve } from './link-server.ts'
import { type NodeMessageHandler, takeMessage } from './node-messages.ts'
import { MARKET_PATH } from './owner-market-sessions.ts'
import { PROOF, proofOf, SIGNATURE, type Verifier } from './signature.ts'
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
  /** Of the signatures. */
  readonly key: Uint8Array
  /** Handles a request of a client that another node passes on: the routing of the public server. */
  readonly serve: Serve
  /** Handlers of the nodes' own messages, by path. */
  readonly messages?: Readonly<Record<string, NodeMessageHandler>>
  /** Takes a market data session that another node passes through for a client at `address`. */
  readonly passThrough?: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string, lines: readonly string[]) => void
}

/**
 * Takes requests of other nodes. Whatever is not signed by a node is closed without an answer. The limits of the public server for
 * connections and addresses do not apply here: they were applied where the client connected.
 */
export class NodeListener {
  readonly #verifier: Verifier
  readonly #options: NodeListenerOptions
  readonly #server: Server
  readonly #inFlight: InFlight
  readonly #unproven: UnprovenConnections
  readonly #links: LinkServer

  constructor(verifier: Verifier, log: Log, options: NodeListenerOptions) {
    const { connectionsMax, messages = {} } = options
    this.#verifier = verifier
    this.#options = options
    this.#unproven = new UnprovenConnections(options.unproven)
    this.#links = new LinkServer(options.serve)
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
        // What is no path of messages is a request of a client, as nodes passed it on before there were links. Nothing is done for it.
        if (url.startsWith('/nodes/')) response.writeHead(404).end()
        else response.writeHead(503, { [BETWEEN_NODES.notExecuted]: '1' }).end()
      }
    )
    this.#server.maxConnections = connectionsMax
    this.#server.on('connection', socket => this.#unproven.add(socket))
    this.#server.on('clientError', (_error, socket) => socket.destroy())
    // Without a listener Node itself would answer these.
    for (const event of ['checkContinue', 'checkExpectation'] as const) {
      this.#server.on(event, (request: IncomingMessage) => request.socket.destroy())
    }
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
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
  async idle(): Promise<void> {
    await Promise.all([this.#inFlight.idle(), this.#links.idle()])
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
    this.#links.cut()
    this.#server.closeAllConnections()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined)
    const { method, url, headers } = request
    const isKnown = method === 'GET' && (url === MARKET_PATH || url === LINK_PATH)
    const passedOn = isKnown ? this.#verifier.verify({ method, url, headers }) : null
    const { passThrough, key } = this.#options
    if (passedOn === null) return void socket.destroy()
    this.#unproven.proved(request.socket)
    if (url === LINK_PATH) this.#openLink(request, socket, head, key)
    else if (passThrough === undefined) socket.destroy()
    else passThrough(request, socket, head, passedOn.address, [`${PROOF}: ${proofOf(key, String(headers[SIGNATURE]))}`])
  }

  #openLink({ headers }: IncomingMessage, socket: Duplex, head: Buffer, key: Uint8Array): void {
    const keys = socket instanceof Socket ? acceptLink(socket, headers, key) : null
    if (keys === null || !(socket instanceof Socket)) socket.destroy()
    else this.#links.open(socket, keys, head)
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
