/** What becomes of a request that was passed on, and whose answer did not come. */
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { type ForeignRequest, type Forwarder, NoAnswer, type OwnersAnswer } from './forwarder.ts'

interface PassingDeps {
  readonly forwarder: Forwarder
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly log: Pick<Log, 'warn'>
}

const LOOK_MS = 100
const NOTHING_DONE = 'nothing done'

/** What a request without an answer led to, as found in the database. */
export class Found<Result> {
  readonly record: Result

  constructor(record: Result) {
    this.record = record
  }
}

/**
 * The owner's answer, or what the request led to if no answer came. If it led to nothing, it is passed on again, to the next owner.
 * Null: this node has become the owner, and nothing was done yet.
 * @param result looks up what the request led to; null where it cannot be found out
 * @throws what {@link Forwarder.pass} throws; NoAnswer if the outcome stays unknown
 */
export async function answerOrResult<Result>(
  deps: PassingDeps,
  request: ForeignRequest,
  result: (() => Promise<Result | null>) | null
): Promise<OwnersAnswer | Found<Result> | null> {
  for (;;) {
    try {
      return await deps.forwarder.pass(request)
    } catch (error) {
      const outcome = error instanceof NoAnswer ? await outcomeOf(deps, request, error, result) : null
      if (outcome === null) throw error
      if (outcome !== NOTHING_DONE) return outcome
    }
  }
}

/**
 * What a request led to at a node that gave no answer. Nothing is known to have been done once another node owns the user and nothing is
 * stored: the former owner can store nothing more, and sends only what is stored. Null if it cannot be found out, for whatever reason:
 * then the response is that the outcome is unknown.
 */
async function outcomeOf<Result>(
  { forwarder, clock, log }: PassingDeps,
  { userKey, requestId }: ForeignRequest,
  { nodeId }: NoAnswer,
  result: (() => Promise<Result | null>) | null
): Promise<Found<Result> | typeof NOTHING_DONE | null> {
  if (result === null) return null
  try {
    const endsAt = clock.monotonicMs() + forwarder.resultMs
    for (;;) {
      // Before the look: what is stored after it would not be seen.
      const hasMoved = forwarder.hasMoved(userKey, nodeId)
      const record = await result()
      if (record !== null) return new Found(record)
      if (hasMoved) return NOTHING_DONE
      if (clock.monotonicMs() >= endsAt) return null
      await clock.sleep(LOOK_MS)
    }
  } catch (cause) {
    log.warn('the outcome of a request without an answer could not be looked up', { requestId, cause })
    return null
  }
}
