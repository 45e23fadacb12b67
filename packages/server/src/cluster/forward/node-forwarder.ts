import { ServiceError } from '@trunkline/core/domain/errors'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'
import { CommitUnknown } from '@trunkline/core/ports/store'
import type { ForeignRequest, Forwarder, OwnersAnswer } from '../../http/forwarder.ts'
import { BETWEEN_NODES } from '../../http/passed-on.ts'
import { type NodeAnswer, NodeClient, type NodeClientLimits, NodeFault } from './node-client.ts'
import { headersForClient, headersForOwner } from './passed-headers.ts'
import { SIGNATURE, type Signer } from './signature.ts'

export interface ForwarderLimits extends NodeClientLimits {
  /** How long a request waits for an owner. */
  readonly ownerMs: number
  /** How long a node that no longer owns the user may take to answer. It should answer: it finishes what it began. */
  readonly formerOwnerMs: number
  /** How long the result of a request without an answer is looked for: a commit of a node that just died may become visible later. */
  readonly resultMs: number
}

export function forwarderLimits(answerWithinMs: number, connections: number): ForwarderLimits {
  return {
    connections,
    connectMs: 2_000,
    // An order is answered within its own limit; a deletion, a chain of options or many cancels take longer.
    headersMs: answerWithinMs + 60_000,
    bodyMs: 15_000,
    bodyMax: 32 * 1024 * 1024,
    ownerMs: 5_000,
    formerOwnerMs: answerWithinMs + 1_000,
    resultMs: 3_000
  }
}

interface ForwarderDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly log: Log
  readonly signer: Signer
  /** Called when a node does not answer, so that its lease is looked at early. */
  readonly suspect: (nodeId: NodeId) => void
}

/** The pause before a node that took no request is tried again, if no owner changes meanwhile. */
const PAUSE_MS = 100
/** How often the owner of a request under way is looked at, once its first time limit is over. */
const LOOK_MS = 1_000
/** Clients of nodes that are gone are closed at this number. Every start of a node is another one. */
const CLIENTS_MAX = 64

/** Passes requests to the owners of their users over HTTP between the nodes. */
export class NodeForwarder implements Forwarder {
  readonly #deps: ForwarderDeps
  readonly #limits: ForwarderLimits
  /** Least recently used first. */
  readonly #clients = new Map<NodeId, NodeClient>()

  constructor(deps: ForwarderDeps, limits: ForwarderLimits) {
    this.#deps = deps
    this.#limits = limits
  }

  get resultMs(): number {
    return this.#limits.resultMs
  }

  async pass(request: ForeignRequest): Promise<OwnersAnswer | null> {
    const { ownership, clock } = this.#deps
    const endsAt = clock.monotonicMs() + this.#limits.ownerMs
    for (;;) {
      const owner = ownership.ownerOf(request.userKey)
      if (owner.kind === 'this') return null
      const answer = owner.kind === 'other' ? await this.#attempt(owner.node, request) : null
      if (answer !== null) return answer
      const left = endsAt - clock.monotonicMs()
      if (left <= 0) throw moving()
      await ownership.changed(Math.min(left, owner.kind === 'none' ? left : PAUSE_MS))
    }
  }

  /** Ends what is under way. */
  async stop(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(client => client.cut()))
  }

  /** Null: nothing was done, so another attempt is safe. @throws CommitUnknown */
  async #attempt(node: OwnerNode, request: ForeignRequest): Promise<OwnersAnswer | null> {
    const { log, suspect } = this.#deps
    try {
      const { status, headers, body } = await this.#send(node, request)
      if (headers[BETWEEN_NODES.notExecuted] !== undefined) return null
      return { status, headers: headersForClient(headers), body, isUserLimited: headers[BETWEEN_NODES.userLimited] !== undefined }
    } catch (cause) {
      if (!(cause instanceof NodeFault)) throw cause
      suspect(node.nodeId)
      const { requestId } = request
      log.warn('a request could not be passed to the owner of its user', { nodeId: node.nodeId, requestId, sent: cause.sent, cause })
      if (cause.sent === 'nothing' || !request.hasEffect) return null
      throw new CommitUnknown('the owner of the user did not answer', { cause })
    }
  }

  async #send(node: OwnerNode, request: ForeignRequest): Promise<NodeAnswer> {
    const { method, url, address, platformAllowance, body, userKey } = request
    const headers = headersForOwner(request.headers, request.requestId)
    const signed = { method, url, headers }
    headers[SIGNATURE] = this.#deps.signer.sign(node.nodeId, signed, { address, platformAllowance, body })
    const over = new AbortController()
    using _watch = this.#watch(userKey, node.nodeId, over)
    return await this.#clientOf(node).send({ method, path: url, headers, body: body.length === 0 ? null : body }, over.signal)
  }

  /** Ends the wait for a node that has lost the user and does not answer in time either. */
  #watch(userKey: UserKey, nodeId: NodeId, over: AbortController): Disposable {
    const { ownership, clock } = this.#deps
    const look = () => {
      const owner = ownership.ownerOf(userKey)
      if (owner.kind !== 'other' || owner.node.nodeId !== nodeId) over.abort()
      else alarm = clock.alarm(LOOK_MS, look)
    }
    let alarm = clock.alarm(this.#limits.formerOwnerMs, look)
    return { [Symbol.dispose]: () => alarm[Symbol.dispose]() }
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

function moving(): ServiceError {
  const message = 'The user is being moved to another node of the service; nothing was changed. Try again shortly.'
  return new ServiceError('store_unavailable', message, { retryAfterSeconds: 1 })
}
