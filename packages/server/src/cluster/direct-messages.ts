import { KeyedQueue } from '@trunkline/core/app/keyed-queue'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'

/** The path between nodes. */
export const DIRECT_MESSAGE_PATH = '/nodes/message'

/** From the publication. Longer than any change of an owner, and than the lease of a node that has died. */
const TRIED_MS = 30_000
const PAUSE_MS = 500
/** Messages that wait for a node; beyond it the bus alone carries them. */
const WAITING_MAX = 10_000

export interface DirectMessagesDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  /** The other nodes. */
  readonly others: () => readonly OwnerNode[]
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Log
  /** `refused`: the node cannot read it, now or later. Rejects if the node has not answered. */
  readonly send: (node: OwnerNode, message: object) => Promise<'taken' | 'refused'>
}

/** Where a message is to go now. `none`: nowhere yet; `needless`: nowhere any more. */
type Target = OwnerNode | 'none' | 'needless'

/**
 * Sends other nodes what happened on this one, until they have taken it: what concerns a user to its owner, what concerns a platform to
 * all. The bus carries the same and may lose it.
 */
export class DirectMessages {
  readonly #deps: DirectMessagesDeps
  readonly #queue = new KeyedQueue<UserKey | NodeId>()
  #waiting = 0
  #isFull = false
  #isStopped = false

  constructor(deps: DirectMessagesDeps) {
    this.#deps = deps
  }

  /** Those of one user arrive in this order. Does not wait. A node that becomes the owner meanwhile begins with what is stored. */
  toOwner(userKey: UserKey, message: object): void {
    const target = (): Target => {
      const owner = this.#deps.ownership.ownerOf(userKey)
      return owner.kind === 'other' ? owner.node : owner.kind === 'none' ? 'none' : 'needless'
    }
    if (target() !== 'needless') this.#enqueue(userKey, target, message)
  }

  /** Those to one node arrive in this order. Does not wait. A node that joins meanwhile begins with what is stored. */
  toAll(message: object): void {
    for (const { nodeId } of this.#deps.others()) {
      const target = (): Target => this.#deps.others().find(node => node.nodeId === nodeId) ?? 'needless'
      this.#enqueue(nodeId, target, message)
    }
  }

  /** What has not been taken by the next answer is left to the bus. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#queue.settled()
  }

  #enqueue(key: UserKey | NodeId, target: () => Target, message: object): void {
    const { clock, log } = this.#deps
    if (this.#isStopped) return
    if (this.#waiting >= WAITING_MAX) {
      if (!this.#isFull) log.warn('too many messages wait for other nodes; the bus alone carries the next ones', { waiting: this.#waiting })
      this.#isFull = true
      return
    }
    this.#waiting += 1
    const endsAt = clock.monotonicMs() + TRIED_MS
    void this.#queue
      .run(key, () => this.#send(target, message, endsAt))
      .finally(() => {
        this.#waiting -= 1
        if (this.#waiting === 0) this.#isFull = false
      })
  }

  /** Never rejects. */
  async #send(target: () => Target, message: object, endsAt: number): Promise<void> {
    const { ownership, clock, log, send } = this.#deps
    let failure: unknown = null
    while (!this.#isStopped && clock.monotonicMs() < endsAt) {
      const node = target()
      if (node === 'needless') return
      try {
        if (node !== 'none' && (await send(node, message)) === 'taken') return
        // Refused: those behind it must not wait in vain.
        if (node !== 'none') break
      } catch (cause) {
        failure = cause
      }
      await ownership.changed(PAUSE_MS)
    }
    log.warn('another node could not be sent what happened here; the bus may have carried it', { cause: failure })
  }
}
