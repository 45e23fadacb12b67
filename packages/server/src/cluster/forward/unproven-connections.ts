import type { Socket } from 'node:net'

export interface UnprovenLimits {
  /** Connections from one address that no node has signed anything on yet. More than one node opens at a time. */
  readonly perAddress: number
  /** The same from all addresses. */
  readonly inAll: number
}

/**
 * Connections between nodes that have not proved yet to be a node's. Nodes send a signed request at once, so the oldest of too many is
 * somebody else's, and is ended. A new one is never refused: it could be a node's, whose request would then have an unknown outcome.
 */
export class UnprovenConnections {
  readonly #limits: UnprovenLimits
  /** Oldest first, as are those of each address. */
  readonly #all = new Set<Socket>()
  readonly #byAddress = new Map<string, Set<Socket>>()

  constructor(limits: UnprovenLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#all.size
  }

  add(socket: Socket): void {
    // A closed socket has no address any more.
    const address = socket.remoteAddress ?? ''
    const same = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, same.add(socket))
    this.#all.add(socket)
    socket.once('close', () => this.proved(socket, address))
    if (same.size > this.#limits.perAddress) this.#endOldest(same, address)
    if (this.#all.size > this.#limits.inAll) this.#endOldest(this.#all)
  }

  /** A node has signed a request on the connection. */
  proved(socket: Socket, address = socket.remoteAddress ?? ''): void {
    if (!this.#all.delete(socket)) return
    const same = this.#byAddress.get(address)
    same?.delete(socket)
    if (same?.size === 0) this.#byAddress.delete(address)
  }

  #endOldest(sockets: ReadonlySet<Socket>, address?: string): void {
    const [oldest] = sockets
    if (oldest === undefined) return
    this.proved(oldest, address)
    oldest.destroy()
  }
}
