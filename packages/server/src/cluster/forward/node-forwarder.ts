import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'
import type { ForeignRequest, Forwarder, OwnersAnswer } from '../../http/forwarder.ts'
import { moving, NoAnswer } from '../../http/forwarder.ts'
import { BETWEEN_NODES } from '../../http/passed-on.ts'
import type { LinkLimits } from './link-client.ts'
import { type NodeAnswer, type NodeClientLimits, NodeFault } from './node-client.ts'
import type { NodeClients } from './node-clients.ts'
import { headersForClient, headersForOwner } from './passed-headers.ts'

export interface ForwarderLimits {
  /** How long a request waits for an owner. */
  readonly ownerMs: number
  /** How long a living node that no longer owns the user may take to answer. It should answer: it finishes what it began. */
  readonly formerOwnerMs: number
  /** The same for a request that changes nothing, which the next owner can answer as well. */
  readonly formerReadMs: number
  /** The same for an order: the former owner can store nothing more, so what is stored is the better answer. */
  readonly formerOrderMs: number
  /** How long the result of a request without an answer is looked for. By then another node is the owner, if the former one is dead. */
  readonly resultMs: number
}

/** Limits that suit the time within which orders are answered. */
export function forwarderLimits(answerWithinMs: number): ForwarderLimits {
  return { ownerMs: 5_000, formerOwnerMs: answerWithinMs + 1_000, formerReadMs: 500, formerOrderMs: 500, resultMs: 5_000 }
}

/** @param underWayMax requests to one node at once */
export function nodeClientLimits(answerWithinMs: number, underWayMax: number): NodeClientLimits & LinkLimits {
  // An order is answered within its own limit; a deletion, a chain of options or many cancels take longer.
  const answerMs = answerWithinMs + 60_000
  const max = 32 * 1024 * 1024
  const ofMessages = { connections: 64, connectMs: 2_000, headersMs: answerMs, bodyMs: 15_000, bodyMax: max }
  return { ...ofMessages, underWayMax, answerMs, answerMax: max, openMs: 10_000, quietMs: 2_000, doubtMs: 4_000, deadMs: 15_000 }
}

interface ForwarderDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
  readonly clients: Pick<NodeClients, 'pass'>
  /** Called when a node does not answer, so that its lease is looked at early. */
  readonly suspect: (nodeId: NodeId) => void
  /** Whether the node's lease had not ended when it was seen last. */
  readonly isLiving: (nodeId: NodeId) => boolean
}

/** The pause before a node that took no request is tried again, if no owner changes meanwhile. */
const PAUSE_MS = 100
/** How long the next owner may take after one that gave no answer, however long that one was waited for. */
const NEXT_OWNER_MS = 2_000
/** When the owner of a request under way is looked at first, and how often after that. Most requests are answered before. */
const LOOK_MS = { first: 200, next: 100 }

/** Passes requests to the owners of their users over links between the nodes. */
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
    let endsAt = clock.monotonicMs() + this.#limits.ownerMs
    for (;;) {
      const owner = ownership.ownerOf(request.userKey)
      if (owner.kind === 'this') return null
      const answer = owner.kind === 'other' ? await this.#attempt(owner.node, request) : null
      if (answer !== null) return answer
      if (owner.kind === 'other' && this.hasMoved(request.userKey, owner.node.nodeId))
        endsAt = Math.max(endsAt, clock.monotonicMs() + Math.min(NEXT_OWNER_MS, this.#limits.ownerMs))
      const left = endsAt - clock.monotonicMs()
      if (left <= 0) throw moving()
      await ownership.changed(Math.min(left, owner.kind === 'none' ? left : PAUSE_MS))
    }
  }

  hasMoved(userKey: UserKey, from: NodeId): boolean {
    const owner = this.#deps.ownership.ownerOf(userKey)
    return owner.kind === 'this' || (owner.kind === 'other' && owner.node.nodeId !== from)
  }

  /** Null: nothing was done, so another attempt is safe. @throws NoAnswer */
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
      throw new NoAnswer(node.nodeId, { cause })
    }
  }

  async #send(node: OwnerNode, request: ForeignRequest): Promise<NodeAnswer> {
    const { method, url, address, platformAllowance, body } = request
    const headers = headersForOwner(request.headers, request.requestId)
    const over = new AbortController()
    using _watch = this.#watch(request, node.nodeId, over)
    return await this.#deps.clients.pass(node, { method, url, headers, address, platformAllowance, body }, over.signal)
  }

  /**
   * Ends the wait for a node that has lost the user: at once if it is dead, as its lease has ended; after a while if it lives. A node that
   * is frozen loses its users like one that is dead.
   */
  #watch(
    { userKey, hasEffect, hasResult, answerMs = Number.POSITIVE_INFINITY }: ForeignRequest,
    nodeId: NodeId,
    over: AbortController
  ): Disposable {
    const { ownership, clock, isLiving } = this.#deps
    const { formerOwnerMs, formerReadMs, formerOrderMs } = this.#limits
    const patienceMs = !hasEffect ? formerReadMs : hasResult ? formerOrderMs : formerOwnerMs
    const sentMs = clock.monotonicMs()
    let movedMs: number | null = null
    const isOver = (): boolean => {
      const nowMs = clock.monotonicMs()
      if (nowMs - sentMs >= answerMs) return true
      if (ownership.ownerOf(userKey).kind === 'none') return nowMs - sentMs >= formerOwnerMs
      if (!this.hasMoved(userKey, nodeId)) return false
      movedMs ??= nowMs
      return !isLiving(nodeId) || nowMs - movedMs >= patienceMs
    }
    const look = () => {
      if (isOver()) over.abort()
      else alarm = clock.alarm(LOOK_MS.next, look)
    }
    let alarm = clock.alarm(LOOK_MS.first, look)
    return { [Symbol.dispose]: () => alarm[Symbol.dispose]() }
  }
}
