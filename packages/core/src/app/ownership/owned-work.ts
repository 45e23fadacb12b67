import type { UserKey } from '../../domain/ids.ts'
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
  #unsubscribe: (() => void) | null = null

  constructor(deps: Pick<Deps, 'ownership' | 'clock' | 'ids' | 'log'>, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Resolves when the work for the users that this node owns now has been resumed. */
  async start(): Promise<void> {
    this.#parts.mirrors.start()
    this.#unsubscribe = this.#deps.ownership.listen({
      gained: partitions => this.#gained(partitions),
      release: partitions => this.#release(partitions)
    })
    await Promise.all(this.#resuming)
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
    const resuming: Promise<void> = this.#resume(partitions).finally(() => this.#resuming.delete(resuming))
    this.#resuming.add(resuming)
  }

  /** Until the store answers. Never rejects. */
  async #resume(partitions: ReadonlySet<Partition>): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return await this.#parts.mirrors.resume(partitions)
      } catch (cause) {
        this.#deps.log.warn('the open orders of users cannot be read yet', { partitions: partitions.size, cause })
        await this.#deps.clock.sleep(backoffMs(RETRY, failures, this.#deps.ids.fraction()), signal).catch(() => undefined)
      }
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
