import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { CommitUnknown } from '@trunkline/core/ports/store'
import type { Allowance } from '../auth/rate-limit.ts'

/** An authenticated request of a user whom this node does not own. */
export interface ForeignRequest {
  readonly userKey: UserKey
  readonly method: string
  /** Path and query, as the client sent them. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly address: string
  readonly requestId: string
  readonly platformAllowance: Allowance
  readonly body: Buffer
  /** Whether it may change something, so that it must not be executed twice. */
  readonly hasEffect: boolean
  /** Whether its result can be looked up where there is no answer. */
  readonly hasResult: boolean
  /** How long one owner is waited for; absent: as long as any request of a client may take. */
  readonly answerMs?: number
}

/** The owner's answer, whole. */
export interface OwnersAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  /** It was refused because of the user's rate limit. */
  readonly isUserLimited: boolean
}

/** The node that owned the user when it was sent the request gave no answer: it may have executed it. */
export class NoAnswer extends CommitUnknown {
  readonly nodeId: NodeId

  constructor(nodeId: NodeId, options: ErrorOptions) {
    super('the owner of the user did not answer', options)
    this.nodeId = nodeId
  }
}

/** Passes requests on to the nodes that own their users. */
export interface Forwarder {
  /** How long the result of a request without an answer is looked for. */
  readonly resultMs: number
  /**
   * Waits for an owner if there is none. Null: this node has become the owner, and nothing was done yet.
   * @throws ServiceError store_unavailable if nothing was done; NoAnswer if the owner may have executed the request.
   */
  pass(request: ForeignRequest): Promise<OwnersAnswer | null>
  /** Whether another node has become the user's owner since. Then the former one can store nothing more, and what it stored is visible. */
  hasMoved(userKey: UserKey, from: NodeId): boolean
}

/** The error for a request that was not executed because its user has no owner for now. */
export function moving(): ServiceError {
  const message = 'The user is being moved to another node of the service; nothing was changed. Try again shortly.'
  return new ServiceError('store_unavailable', message, { retryAfterSeconds: 1 })
}
