// What an operator is shown of all nodes, whichever of them is asked.
import { within } from '@trunkline/core/app/time-limits'
import type { Connection, ConnectionHealth, LeftOut } from '@trunkline/core/domain/account'
import type { ConnectionId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Ownership } from '@trunkline/core/ports/ownership'
import type { AnsweredRequest } from '../request-log.ts'
import { type AnswersDeps, answerTo, overviewOf, requestsOf } from './answers.ts'
import { type NodeQuestion, type OverviewAnswer, READ_ANSWER, type RequestFilter, ROWS_MAX, readQuestion } from './messages.ts'

export { OPERATORS_PATH, type RequestFilter } from './messages.ts'

/** An operator waits no longer for a node that does not answer. */
export const ANSWER_MS = 1_000

/** The other nodes; none where there is one process. */
export interface OtherNodes {
  /** Their ids, as far as they live. */
  ids(): readonly string[]
  /** The node's answer, as it was sent. Rejects if there is none. */
  ask(node: string, question: NodeQuestion): Promise<unknown>
}

/** Of one process. */
export const ALONE: OtherNodes = { ids: () => [], ask: () => Promise.reject(new Error('there are no other nodes')) }

export interface OperatorNodesDeps extends AnswersDeps {
  readonly others: OtherNodes
  readonly ownership: Pick<Ownership, 'ownerOf'>
  readonly clock: Clock
  readonly log: Log
}

/** Null: the node did not answer within a second. */
export type NodeOverview = { readonly node: string; readonly overview: OverviewAnswer | null }
export type NodeRequest = AnsweredRequest & { readonly node: string }
/** What the node that follows a connection knows of it; null: it did not answer. */
export type Followed = { readonly health: ConnectionHealth; readonly leftOut: LeftOut | null } | null

/**
 * Answers of all nodes. Each is asked at the same time, for a second at most; one that does not answer, or is of a version that does not
 * know the question, is named in place of its answer.
 */
export class OperatorNodes {
  readonly #deps: OperatorNodesDeps

  constructor(deps: OperatorNodesDeps) {
    this.#deps = deps
  }

  /** The answer to another node. @throws Malformed */
  answer(message: unknown): Promise<unknown> {
    return answerTo(this.#deps, readQuestion(message))
  }

  /** This node first. */
  async overviews(): Promise<readonly NodeOverview[]> {
    const { service, others } = this.#deps
    const asked = others.ids().map(async node => ({ node, overview: await this.#ask(node, { kind: 'overview' }, READ_ANSWER.overview) }))
    return [{ node: service.name, overview: await overviewOf(this.#deps) }, ...(await Promise.all(asked))]
  }

  /** The newest of all nodes, the newest first by their clocks; and which nodes did not answer. */
  async requests(
    filter: RequestFilter,
    limit: number
  ): Promise<{ readonly requests: readonly NodeRequest[]; readonly unanswered: readonly string[] }> {
    const { service, others, requests } = this.#deps
    const question: NodeQuestion & { kind: 'requests' } = { kind: 'requests', filter, limit: Math.min(limit, ROWS_MAX) }
    const asked = others.ids().map(async node => ({ node, answer: await this.#ask(node, question, READ_ANSWER.requests) }))
    const answers = [
      { node: service.name, answer: { requests: requestsOf(requests, filter, question.limit) } },
      ...(await Promise.all(asked))
    ]
    const all = answers.flatMap(({ node, answer }) => (answer?.requests ?? []).map(request => ({ ...request, node })))
    return {
      // Of one node they keep its order, whatever became of its clock.
      requests: all.toSorted((a, b) => (a.node === b.node || a.at === b.at ? 0 : a.at < b.at ? 1 : -1)).slice(0, question.limit),
      unanswered: answers.filter(({ answer }) => answer === null).map(({ node }) => node)
    }
  }

  /** The newest request with the id; null: no node that answered has it any more. */
  async findRequest(requestId: string): Promise<NodeRequest | null> {
    const any = { code: null, platformId: null, userKey: null, requestId }
    const found = await Promise.all([true, false].map(isFailed => this.requests({ ...any, isFailed }, 1)))
    return found.flatMap(({ requests }) => requests)[0] ?? null
  }

  /** Of each connection what the node knows that follows it. */
  async followed(connections: readonly Connection[]): Promise<ReadonlyMap<ConnectionId, Followed>> {
    const { ownership, mirrors } = this.#deps
    const found = new Map<ConnectionId, Followed>()
    const elsewhere = new Map<string, Connection[]>()
    for (const connection of connections) {
      const owner = ownership.ownerOf(connection.userKey)
      const isKnownHere = owner.kind === 'this' || connection.status === 'BROKEN'
      found.set(connection.connectionId, isKnownHere ? { health: mirrors.health(connection), leftOut: mirrors.leftOut(connection) } : null)
      if (owner.kind !== 'other' || isKnownHere) continue
      const { nodeId } = owner.node
      elsewhere.set(nodeId, [...(elsewhere.get(nodeId) ?? []), connection])
    }
    await Promise.all([...elsewhere].map(([node, its]) => this.#askFollowed(node, its, found)))
    return found
  }

  async #askFollowed(node: string, connections: readonly Connection[], found: Map<ConnectionId, Followed>): Promise<void> {
    const asked = connections.slice(0, ROWS_MAX).map(({ connectionId, createdAt }) => ({ connectionId, createdAt }))
    const answer = await this.#ask(node, { kind: 'followed', connections: asked }, READ_ANSWER.followed)
    const wanted = new Set(asked.map(({ connectionId }) => connectionId))
    for (const { connectionId, health, leftOut } of answer?.connections ?? [])
      if (wanted.has(connectionId)) found.set(connectionId, { health, leftOut })
    if (answer !== null && connections.length > ROWS_MAX) await this.#askFollowed(node, connections.slice(ROWS_MAX), found)
  }

  async #ask<Answer>(node: string, question: NodeQuestion, read: (value: unknown) => Answer): Promise<Answer | null> {
    const { clock, log, others } = this.#deps
    try {
      const answer = await within(clock, others.ask(node, question), ANSWER_MS)
      return answer === null ? null : read(answer)
    } catch (cause) {
      log.debug('another node did not answer on behalf of an operator', { node, question: question.kind, cause })
      return null
    }
  }
}
