// A node's connection to the tables of members and partitions: slow at times, without an answer at others, and held up with its process.
import type { NodeId } from '@trunkline/core/domain/ids'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { ANSWER_SHARE, type KeeperDeps } from '../../../src/cluster/members/lease-keeper.ts'
import type { Node } from '../../../src/cluster/members/messages.ts'
import type { Chance } from '../chance.ts'
import type { Life } from '../life.ts'
import type { SteppedStore } from '../stepped-store.ts'
import type { Fences, Leases } from './leases.ts'

const SLOW_MS_MAX = 900

export interface LeaseLinkDeps {
  readonly life: Life
  readonly time: Clock
  readonly chance: Chance
  readonly leases: Leases
  readonly store: SteppedStore
  /** Lets the database of the orders know. */
  readonly raise: (fences: Fences) => Promise<void>
}

export class LeaseLink {
  readonly #deps: LeaseLinkDeps
  #onChanged: () => void = () => undefined

  constructor(deps: LeaseLinkDeps) {
    this.#deps = deps
  }

  /** The database announces a change. */
  announced(): void {
    const { life } = this.#deps
    if (!life.isCutFromStore) life.whenRunning(() => this.#onChanged())
  }

  database(node: Node, leaseMs: number): KeeperDeps['database'] {
    const { leases } = this.#deps
    const database: KeeperDeps['database'] = {
      onChanged: () => undefined,
      join: () => this.#reach(leaseMs, async () => leases.join(node, leaseMs)),
      renew: () => this.#reach(leaseMs, async () => this.#renew(node.nodeId, leaseMs)),
      // In turn with all writes: those under the fence before are over, or yet to be refused.
      execute: command =>
        this.#reach(leaseMs, () =>
          this.#deps.store.ordered(`leases.${command.kind}`, this.#deps.life, async () => {
            await this.#deps.raise(leases.execute(node.nodeId, command))
          })
        ),
      close: () => undefined
    }
    this.#onChanged = () => database.onChanged()
    return database
  }

  #renew(nodeId: NodeId, leaseMs: number) {
    const { store, leases, life, time } = this.#deps
    const { fault } = store.plan('leases.renew', false, life)
    if (fault !== undefined && fault !== 'written') throw new StoreUnavailable('the simulated store renews no lease')
    const view = leases.renew(nodeId, leaseMs)
    if (fault !== undefined) throw new StoreUnavailable('the simulated store lost the answer to a renewal')
    return view && { view, wallMs: epochMs(time.now()) }
  }

  async #reach<T>(leaseMs: number, work: () => Promise<T>): Promise<T> {
    return await this.#deps.life.lived(this.#answered(leaseMs, work))
  }

  async #answered<T>(leaseMs: number, work: () => Promise<T>): Promise<T> {
    const { life } = this.#deps
    if (life.isCutFromStore) return await this.#silence(leaseMs)
    await this.#travel()
    if (life.isCutFromStore || life.isOver) return await this.#silence(leaseMs)
    const answer = await work()
    await this.#travel()
    return life.isCutFromStore ? await this.#silence(leaseMs) : answer
  }

  async #silence(leaseMs: number): Promise<never> {
    await this.#deps.time.sleep(ANSWER_SHARE * leaseMs)
    throw new StoreUnavailable('the simulated store does not answer')
  }

  async #travel(): Promise<void> {
    const { chance, time } = this.#deps
    if (chance.happens(0.05)) await time.sleep(chance.happens(0.05) ? chance.whole(1, SLOW_MS_MAX) : chance.whole(1, 20))
  }
}
