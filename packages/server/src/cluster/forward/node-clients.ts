import type { NodeId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { OwnerNode } from '@trunkline/core/ports/ownership'
import { LinkClient, type LinkLimits } from './link-client.ts'
import { openLink } from './link-opening.ts'
import { type NodeAnswer, NodeClient, type NodeClientLimits } from './node-client.ts'
import { encodeRequest, type PassedRequest } from './passed-codec.ts'
import { SIGNATURE, type Signer, type Vouched } from './signature.ts'

/** Clients of nodes that are gone are closed at this number. Every start of a node is another one. */
const CLIENTS_MAX = 128

export interface SignedSend extends Vouched {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface NodeClientsDeps {
  readonly signer: Signer
  /** Of the signatures. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'monotonicMs' | 'alarm'>
}

interface Clients {
  readonly http: NodeClient
  readonly link: LinkClient
}

/** What this node sends to the others: requests of clients over links, messages as signed HTTP. */
export class NodeClients {
  readonly #deps: NodeClientsDeps
  readonly #limits: NodeClientLimits & LinkLimits
  /** Least recently used first. */
  readonly #clients = new Map<NodeId, Clients>()

  constructor(deps: NodeClientsDeps, limits: NodeClientLimits & LinkLimits) {
    this.#deps = deps
    this.#limits = limits
  }

  /** Passes a request on, once. Any status is an answer. @throws NodeFault */
  pass(node: OwnerNode, request: PassedRequest, signal: AbortSignal): Promise<NodeAnswer> {
    return this.#clientsOf(node).link.send(encodeRequest(request), signal)
  }

  /** Sends once. Any status is an answer. @throws NodeFault */
  send(node: OwnerNode, request: SignedSend, signal: AbortSignal): Promise<NodeAnswer> {
    const { method, url, body } = request
    const headers = { ...request.headers, [SIGNATURE]: this.#deps.signer.sign(node.nodeId, request, request) }
    return this.#clientsOf(node).http.send({ method, path: url, headers, body: body.length === 0 ? null : body }, signal)
  }

  /** Ends what is under way. */
  async stop(): Promise<void> {
    for (const { link } of this.#clients.values()) link.cut()
    await Promise.all([...this.#clients.values()].map(({ http }) => http.cut()))
  }

  #clientsOf(node: OwnerNode): Clients {
    const { nodeId } = node
    const clients = this.#clients.get(nodeId) ?? this.#made(node)
    this.#clients.delete(nodeId)
    this.#clients.set(nodeId, clients)
    const [oldest] = this.#clients
    if (oldest !== undefined && this.#clients.size > CLIENTS_MAX) {
      this.#clients.delete(oldest[0])
      oldest[1].link.cut()
      void oldest[1].http.close()
    }
    return clients
  }

  #made(node: OwnerNode): Clients {
    const { signer, key, clock } = this.#deps
    const open = (signal: AbortSignal) => openLink(node, signer, key, this.#limits.openMs, signal)
    return { http: new NodeClient(node.url, this.#limits), link: new LinkClient(open, this.#limits, clock) }
  }
}
