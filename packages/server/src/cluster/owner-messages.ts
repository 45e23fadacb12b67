import { KeyedQueue } from '@trunkline/core/app/keyed-queue'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'

/** The path between nodes. */
export const OWNER_MESSAGE_PATH = '/nodes/message'

/** Longer than any change of an owner takes. */
const TRIED_MS = 30_000
const PAUSE_MS = 500
/** Messages that wait for an owner; beyond it the bus alone carries them. */
const WAITING_MAX = 10_000

export interface OwnerMessagesDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Log
  /** Rejects unless the node took it. */
  readonly send: (node: OwnerNode, message: object) => Promise<void>
}

/**
 * Sends the owner of a user what happened to the user on this node, until it has taken it. The bus carries the same and may lose it. A node
 * that becomes the owner meanwhile needs no message: it begins with what is stored.
 */
export class OwnerMessages {
  readonly #deps: OwnerMessagesDeps
  readonly #queue = new KeyedQueue<UserKey>()
  #waiting = 0
  #isStopped = false

  constructor(deps: OwnerMessagesDeps) {
    this.#deps = deps
  }

  /** Those of one user arrive in this order. Does not wait. */
  send(userKey: UserKey, message: object): void {
    if (this.#isStopped || this.#waiting >= WAITING_MAX || this.#deps.ownership.ownerOf(userKey).kind === 'this') return
    this.#waiting += 1
    void this.#queue
      .run(userKey, () => this.#send(userKey, message))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  /** What the owner has not taken by its next answer is left to the bus. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#queue.settled()
  }

  /** Never rejects. */
  async #send(userKey: UserKey, message: object): Promise<void> {
    const { ownership, clock, log, send } = this.#deps
    const endsAt = clock.monotonicMs() + TRIED_MS
    let failure: unknown = null
    while (!this.#isStopped && clock.monotonicMs() < endsAt) {
      const owner = ownership.ownerOf(userKey)
      if (owner.kind === 'this') return
      try {
        if (owner.kind === 'other') return await send(owner.node, message)
      } catch (cause) {
        failure = cause
      }
      await ownership.changed(PAUSE_MS)
    }
    log.warn('the owner of a user could not be sent what happened to the user here', { userKey, cause: failure })
  }
}
