// A TCP balancer, as simple as one in production may be: no stickiness, no knowledge of HTTP, every connection to the next ready node.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Backend } from './backends.ts'

const CONNECT_MS = 1_000
const LINGER_MS = 10_000
/** More connections are refused by the system. */
const CONNECTIONS_MAX = 10_000

export interface Address {
  readonly host: string
  readonly port: number
}

export class Balancer {
  readonly #candidates: () => readonly Backend[]
  readonly #server: Server
  /** The two ends of every connection, by the node's name. */
  readonly #pairs = new Map<string, Set<readonly [client: Socket, node: Socket]>>()
  readonly #clients = new Set<Socket>()

  constructor(candidates: () => readonly Backend[]) {
    this.#candidates = candidates
    this.#server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, client => void this.#serve(client))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Resolves to the port. */
  async listen({ host, port }: Address): Promise<number> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : port
  }

  /** Closes the connections of a node that does not answer: a paused one would never close them. */
  closeConnectionsOf(name: string): void {
    for (const sockets of this.#pairs.get(name) ?? []) for (const socket of sockets) socket.resetAndDestroy()
  }

  connectionsOf(name: string): number {
    return this.#pairs.get(name)?.size ?? 0
  }

  /** Accepts nothing more, and closes what is open. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const client of this.#clients) client.destroy()
    await closed
  }

  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client)
    client.once('close', () => this.#clients.delete(client))
    client.on('error', () => client.destroy())
    for (const { name, host, port } of this.#candidates()) {
      const node = await connected({ host, port })
      if (client.destroyed) {
        node?.destroy()
        return
      }
      // Nothing was passed on yet, so another node may be tried.
      if (node === null) continue
      this.#join(name, client, node)
      return
    }
    client.destroy()
  }

  #join(name: string, client: Socket, node: Socket): void {
    const pair = [client, node] as const
    const pairs = this.#pairs.get(name) ?? new Set()
    this.#pairs.set(name, pairs.add(pair))
    client.once('close', () => {
      pairs.delete(pair)
      node.destroy()
    })
    node.on('error', () => client.resetAndDestroy())
    node.once('close', () => release(client))
    // `pipe` holds back the faster side, and passes on the end of each direction.
    client.pipe(node)
    node.pipe(client)
  }
}

/** The client still receives what the node sent before it closed, and then has some time to close its own side. */
function release(client: Socket): void {
  client.resume().end()
  client.setTimeout(LINGER_MS, () => client.destroy())
}

/** Null if the node does not accept the connection. */
function connected({ host, port }: Address): Promise<Socket | null> {
  return new Promise(resolve => {
    const socket = connect({ host, port, noDelay: true })
    const failed = () => {
      socket.destroy()
      resolve(null)
    }
    const patience = setTimeout(failed, CONNECT_MS)
    socket.once('error', failed)
    socket.once('connect', () => {
      clearTimeout(patience)
      socket.off('error', failed)
      resolve(socket)
    })
    socket.once('close', () => clearTimeout(patience))
  })
}
