import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { type Partition, partitionOf } from '../../domain/partition.ts'
import { backoffMs } from '../backoff.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Markets } from '../market/markets.ts'
import type { AccountRecords } from '../mirror/account-records.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import type { Resolver } from '../reconciliation/resolver.ts'

const RETRY = { firstMs: 100, longestMs: 2_000 }

interface Parts {
  readonly commands: InFlightCommands
  readonly orderWriter: OrderWriter
  readonly records: AccountRecords
  readonly mirrors: Mirrors
  readonly markets: Markets
  readonly resolver: Resolver
  readonly sessions: BrokerSessions
}

/** Begins and ends this node's work for users as their partitions are gained and released. */
export class OwnedWork {
  readonly #deps: Pick<Deps, 'ownership' | 'clock' | 'ids' | 'log'>
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  readonly #resuming = new Set<Promise<void>>()
  /** Of them, the first attempts. */
  readonly #attempts = new Set<Promise<void>>()
  #unsubscribe: (() => void) | null = null

  constructor(deps: Pick<Deps, 'ownership' | 'clock' | 'ids' | 'log'>, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Resolves when the work for the users that this node owns now has been resumed, except where that fails: it is tried again. */
  async start(): Promise<void> {
    this.#parts.mirrors.start()
    this.#unsubscribe = this.#deps.ownership.listen({
      gained: partitions => this.#gained(partitions),
      release: partitions => this.#release(partitions)
    })
    await Promise.all(this.#attempts)
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#stopping.abort()
    await Promise.all(this.#resuming)
  }

  #gained(partitions: ReadonlySet<Partition>): void {
    // The former owner changed these orders after they were read here.
    this.#parts.orderWriter.forgetUsers(userKey => partitions.has(partitionOf(userKey)))
    this.#parts.records.gained(partitions)
    const attempt = Promise.withResolvers<void>()
    this.#attempts.add(attempt.promise)
    void attempt.promise.then(() => this.#attempts.delete(attempt.promise))
    const resuming: Promise<void> = this.#resume(partitions, attempt.resolve).finally(() => {
      attempt.resolve()
      this.#resuming.delete(resuming)
    })
    this.#resuming.add(resuming)
  }

  /** Until nothing is left to be resumed. `attempted` is called once the store has answered. Never rejects. */
  async #resume(partitions: ReadonlySet<Partition>, attempted: () => void): Promise<void> {
    const { clock, ids, log } = this.#deps
    const { signal } = this.#stopping
    const resumed = new Set<ConnectionId>()
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        const left = await this.#parts.mirrors.resume(partitions, resumed)
        attempted()
        if (left.size === 0) return
        const [[connectionId, cause] = []] = left
        log.warn('the open orders of connections cannot be taken up yet', { connections: left.size, connectionId, cause })
      } catch (cause) {
        log.warn('the open orders of users cannot be read yet', { partitions: partitions.size, cause })
      }
      await clock.sleep(backoffMs(RETRY, failures, ids.fraction()), signal).catch(() => undefined)
    }
  }

  async #release(partitions: ReadonlySet<Partition>): Promise<void> {
    const isReleased = (userKey: UserKey) => partitions.has(partitionOf(userKey))
    const { commands, mirrors, markets, resolver, sessions } = this.#parts
    markets.endUnowned()
    await Promise.all([commands.settled(isReleased), mirrors.endUnowned(), resolver.endUnowned()])
    await sessions.closeUnowned()
  }
}
