// Changes that only the owner of a user makes, at whichever node an operator asks for them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { UserKey } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Log } from '@trunkline/core/ports/log'
import { type ForeignRequest, type Forwarder, NoAnswer, type OwnersAnswer } from '../../http/forwarder.ts'
import { BETWEEN_NODES, passedOnOf } from '../../http/passed-on.ts'
import { problemOf } from '../../http/problems.ts'
import { Rendered } from '../../http/rendered.ts'
import { answerOrResult, Found } from '../../http/without-answer.ts'
import { ASKING_MS, asking, type OperatorOrigin } from '../acting.ts'
import {
  CHANGES_PATH,
  type OrderEnd,
  type OwnersChange,
  type OwnersRefusal,
  type PassedChange,
  type ReadingAgain,
  readOwnersRefusal,
  readPassedChange
} from './changes.ts'
import { type EndedRow, endedByOperator, endHere, type PerformingDeps, type ReadRows, readAgainHere } from './perform.ts'

/** How long an owner is waited for: it gives up asking brokers a little earlier, and says so. */
const ANSWER_MS = ASKING_MS + 5_000
const REFUSED = 409
/** Nothing was done: it is of a version that this one does not know. */
const UNREADABLE = 400
const MESSAGE_MAX = 4_000
/** It counts for no platform. */
const NO_ALLOWANCE = { limit: 0, remaining: 0, resetSeconds: 0, retryAfterSeconds: null }

export interface OwnersDeps extends PerformingDeps {
  /** Null: there is one process. */
  readonly forwarder: Forwarder | null
}

/**
 * Passes changes on to the owners of their users, and makes those that other nodes pass on to this one. As with requests of clients, the
 * node that is asked proves who asks, the owner judges the change, and a change whose answer did not come is never made a second time.
 */
export class OwnersChanges {
  readonly #deps: OwnersDeps
  #isStopping = false

  constructor(deps: OwnersDeps) {
    this.#deps = deps
  }

  /**
   * Ends an order as never received.
   * @param userKey whose order it is; null: there is no such order
   * @param response of the operator's request: nothing more is begun here once nobody waits for it
   * @throws ServiceError as the owner does; store_unavailable if nothing was done, as the user has no owner for now; internal if it is
   * unknown whether it was done
   */
  async end(userKey: UserKey | null, orderEnd: OrderEnd, by: OperatorOrigin, response: ServerResponse): Promise<Rendered | EndedRow> {
    const answer = await this.#passed(userKey, orderEnd, by, () => endedByOperator(this.#deps, orderEnd.orderId))
    return answer ?? (await asking(this.#deps, response, signal => endHere(this.#deps, orderEnd, by, signal)))
  }

  /** Reads a connection's records again; otherwise as {@link end}. */
  async readAgain(userKey: UserKey | null, reading: ReadingAgain, by: OperatorOrigin): Promise<Rendered | ReadRows> {
    return (await this.#passed<ReadRows>(userKey, reading, by, null)) ?? (await readAgainHere(this.#deps, reading, by))
  }

  /** Takes a request that another node passed on, if it is one of these. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.url !== CHANGES_PATH || passedOnOf(request) === undefined) return false
    void this.#take(request, response)
    return true
  }

  /** Takes no more changes of other nodes. */
  stop(): void {
    this.#isStopping = true
  }

  /** The owner's answer, or what is stored where none came; null: it is to be done here. */
  async #passed<Row>(
    userKey: UserKey | null,
    change: OwnersChange,
    by: OperatorOrigin,
    result: (() => Promise<Row | null>) | null
  ): Promise<Rendered | Row | null> {
    const { forwarder, app } = this.#deps
    if (forwarder === null || userKey === null) return null
    const { clock, log } = app
    const request = requestOf(userKey, change, by, result !== null)
    const answer = await answerOrResult({ forwarder, clock, log }, request, result).catch(cause => {
      throw cause instanceof NoAnswer ? unknown(change, cause) : cause
    })
    if (answer === null) return null
    if (answer instanceof Found) return answer.record
    if (answer.status === 200) return new Rendered(answer.body)
    throw refusedBy(answer)
  }

  async #performed(change: OwnersChange, by: OperatorOrigin, response: ServerResponse): Promise<EndedRow | ReadRows> {
    if (change.kind === 'read_again') return await readAgainHere(this.#deps, change, by)
    return await asking(this.#deps, response, signal => endHere(this.#deps, change, by, signal))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { ownership, log } = this.#deps.app
    const passed = await passedChangeOf(request)
    if (passed instanceof Malformed) return answer(response, UNREADABLE, { message: passed.message })
    const { operator, userKey, change } = passed
    if (this.#isStopping || ownership.ownerOf(userKey).kind !== 'this')
      return void response.writeHead(503, { [BETWEEN_NODES.notExecuted]: '1' }).end()
    const by = { operator, ip: passedOnOf(request)?.address ?? '', requestId: String(request.headers['x-request-id'] ?? '') }
    try {
      answer(response, 200, await this.#performed(change, by, response))
    } catch (cause) {
      answer(response, REFUSED, refusalOf(cause, log))
    }
  }
}

function requestOf(userKey: UserKey, change: OwnersChange, by: OperatorOrigin, hasResult: boolean): ForeignRequest {
  const passed: PassedChange = { operator: by.operator, userKey, change }
  return {
    ...{ userKey, method: 'POST', url: CHANGES_PATH, headers: { 'content-type': 'application/json' } },
    ...{ address: by.ip, requestId: by.requestId, platformAllowance: NO_ALLOWANCE },
    ...{ body: Buffer.from(JSON.stringify(passed)), hasEffect: true, hasResult, answerMs: ANSWER_MS }
  }
}

function refusalOf(cause: unknown, log: Log): OwnersRefusal {
  const { code, message, retryAfterSeconds = null, unexpected } = problemOf(cause)
  if (unexpected) log.error('a change by an operator, passed on by another node, failed unexpectedly', { cause })
  return { code, message: message.slice(0, MESSAGE_MAX), retryAfterSeconds }
}

/** The owner's refusal, as the operator is to have it. */
function refusedBy({ status, body }: OwnersAnswer): ServiceError {
  // It knows no such path, or no such change.
  if (status === 404 || status === UNREADABLE) {
    const message = 'The node that owns the user has a version that takes no such change from other nodes; nothing was done.'
    return new ServiceError('store_unavailable', `${message} Try again once all nodes have the same version.`)
  }
  if (status !== REFUSED) return new ServiceError('internal', `It is unknown whether this was done: its node answered with ${status}.`)
  const { code, message, retryAfterSeconds } = readOwnersRefusal(parseJson(body.toString('utf8')))
  return new ServiceError(code, message, retryAfterSeconds === null ? {} : { retryAfterSeconds })
}

const READ_AGAIN = {
  end_never_received: 'Read the order again before you repeat this; it is never ended twice.',
  read_again: 'Read the connection again to see how current its records are.'
} as const satisfies Record<OwnersChange['kind'], string>

function unknown({ kind }: OwnersChange, cause: NoAnswer): ServiceError {
  const message = `It is unknown whether this was done: node ${cause.nodeId}, which owned the user, gave no answer. ${READ_AGAIN[kind]}`
  return new ServiceError('internal', message, { cause })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

/** The change; Malformed if it is none that this version knows. The link bounds the length of a request. */
async function passedChangeOf(request: IncomingMessage): Promise<PassedChange | Malformed> {
  try {
    return readPassedChange(parseJson((await buffer(request)).toString('utf8')))
  } catch (cause) {
    return cause instanceof Malformed ? cause : new Malformed('change', 'a whole JSON document', String(cause))
  }
}
