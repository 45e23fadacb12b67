import type { NodeId } from '@trunkline/core/domain/ids'
import type { OwnerNode } from '@trunkline/core/ports/ownership'
import { type NodeAnswer, NodeClient, type NodeClientLimits } from './node-client.ts'
import { SIGNATURE, type Signer, type Vouched } from './signature.ts'

/** Clients of nodes that are gone are closed at this number. Every start of a node is another one. */
const CLIENTS_MAX = 64

export interface SignedSend extends Vouched {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Signed HTTP to the other nodes. */
export class NodeClients {
  readonly #signer: Signer
  readonly #limits: NodeClientLimits
  /** Least recently used first. */
  readonly #clients = new Map<NodeId, NodeClient>()

  constructor(signer: Signer, limits: NodeClientLimits) {
    this.#signer = signer
    this.#limits = limits
  }

  /** Sends once. Any status is an answer. @throws NodeFault */
  send(node: OwnerNode, request: SignedSend, signal: AbortSignal): Promise<NodeAnswer> {
    const { method, url, body } = request
    const headers = { ...request.headers, [SIGNATURE]: this.#signer.sign(node.nodeId, request, request) }
    return this.#clientOf(node).send({ method, path: url, headers, body: body.length === 0 ? null : body }, signal)
  }

  /** Ends what is under way. */
  async stop(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(client => client.cut()))
  }

  #clientOf({ nodeId, url }: OwnerNode): NodeClient {
    const client = this.#clients.get(nodeId) ?? new NodeClient(url, this.#limits)
    this.#clients.delete(nodeId)
    this.#clients.set(nodeId, client)
    const [oldest] = this.#clients
    if (oldest !== undefined && this.#clients.size > CLIENTS_MAX) {
      this.#clients.delete(oldest[0])
      void oldest[1].close()
    }
    return client
  }
}
