import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'
import { CommitUnknown } from '@trunkline/core/ports/store'
import type { ForeignRequest, Forwarder, OwnersAnswer } from '../../http/forwarder.ts'
import { moving } from '../../http/forwarder.ts'
import { BETWEEN_NODES } from '../../http/passed-on.ts'
import { type NodeAnswer, type NodeClientLimits, NodeFault } from './node-client.ts'
import type { NodeClients } from './node-clients.ts'
import { headersForClient, headersForOwner } from './passed-headers.ts'

export interface ForwarderLimits {
  /** How long a request waits for an owner. */
  readonly ownerMs: number
  /** How long a node that no longer owns the user may take to answer. It should answer: it finishes what it began. */
  readonly formerOwnerMs: number
  /** How long the result of a request without an answer is looked for: a commit of a node that just died may become visible later. */
  readonly resultMs: number
}

/** Limits that suit the time within which orders are answered. */
export function forwarderLimits(answerWithinMs: number): ForwarderLimits {
  return { ownerMs: 5_000, formerOwnerMs: answerWithinMs + 1_000, resultMs: 3_000 }
}

/** @param connections to one node; as many as requests may be under way, so that no request waits for another's. */
export function nodeClientLimits(answerWithinMs: number, connections: number): NodeClientLimits {
  // An order is answered within its own limit; a deletion, a chain of options or many cancels take longer.
  return { connections, connectMs: 2_000, headersMs: answerWithinMs + 60_000, bodyMs: 15_000, bodyMax: 32 * 1024 * 1024 }
}

interface ForwarderDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
  readonly clients: NodeClients
  /** Called when a node does not answer, so that its lease is looked at early. */
  readonly suspect: (nodeId: NodeId) => void
}

/** The pause before a node that took no request is tried again, if no owner changes meanwhile. */
const PAUSE_MS = 100
/** How often the owner of a request under way is looked at, once its first time limit is over. */
const LOOK_MS = 1_000

/** Passes requests to the owners of their users over HTTP between the nodes. */
export class NodeForwarder implements Forwarder {
  readonly #deps: ForwarderDeps
  readonly #limits: ForwarderLimits

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

  /** Null: nothing was done, so another attempt is safe. @throws CommitUnknown */
  async #attempt(node: OwnerNode, request: ForeignRequest): Promise<OwnersAnswer | null> {
    const { log, meter, suspect } = this.#deps
    try {
      const { status, headers, body } = await this.#send(node, request)
      const isExecuted = headers[BETWEEN_NODES.notExecuted] === undefined
      meter.count('requests_passed_on_total', { result: isExecuted ? 'answered' : 'not_executed' })
      if (!isExecuted) return null
      return { status, headers: headersForClient(headers), body, isUserLimited: headers[BETWEEN_NODES.userLimited] !== undefined }
    } catch (cause) {
      if (!(cause instanceof NodeFault)) throw cause
      suspect(node.nodeId)
      meter.count('requests_passed_on_total', { result: cause.sent === 'nothing' ? 'not_sent' : 'no_answer' })
      const { requestId } = request
      log.warn('a request could not be passed to the owner of its user', { nodeId: node.nodeId, requestId, sent: cause.sent, cause })
      if (cause.sent === 'nothing' || !request.hasEffect) return null
      throw new CommitUnknown('the owner of the user did not answer', { cause })
    }
  }

  async #send(node: OwnerNode, request: ForeignRequest): Promise<NodeAnswer> {
    const { method, url, address, platformAllowance, body, userKey } = request
    const headers = headersForOwner(request.headers, request.requestId)
    const over = new AbortController()
    using _watch = this.#watch(userKey, node.nodeId, over)
    return await this.#deps.clients.send(node, { method, url, headers, address, platformAllowance, body }, over.signal)
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
}
