import { atRate, inParallel } from '../harness/pace.ts'
import type { ConnectedUser } from '../harness/stage.ts'
import { LoadAgent } from '../rest/orders.ts'
import type { ClusterStage } from './stage.ts'

const USERS = 20

/** Orders of some users through all nodes in turn, so that most reach a node that does not own the user. */
export class ClusterLoad implements Disposable {
  readonly users: readonly ConnectedUser[]
  readonly #stage: ClusterStage
  readonly #agent = new LoadAgent()

  private constructor(stage: ClusterStage, users: readonly ConnectedUser[]) {
    this.#stage = stage
    this.users = users
  }

  static async open(stage: ClusterStage): Promise<ClusterLoad> {
    const users: ConnectedUser[] = []
    for (let index = 0; index < USERS; index += 1) users.push(await stage.user())
    return new ClusterLoad(stage, users)
  }

  async atOnce(name: string, count: number, atOnce: number): Promise<void> {
    await inParallel(count, atOnce, async index => void (await this.#order(name, index)))
  }

  /** For each order, in its order: when it was due, and when its client read that it was filled. */
  atRate(name: string, perSecond: number, seconds: number): Promise<readonly { readonly dueAt: number; readonly filledAt: number }[]> {
    return atRate(perSecond, seconds, async (dueAt, index) => ({ dueAt, filledAt: await this.#order(name, index) }))
  }

  [Symbol.dispose](): void {
    this.#agent[Symbol.dispose]()
  }

  async #order(name: string, index: number): Promise<number> {
    const { nodes } = this.#stage
    // Users follow each other in the same way, so the node moves on once more with each round of them.
    const node = nodes[(index + Math.floor(index / USERS)) % nodes.length]
    if (node === undefined) throw new Error('there is no node')
    const { filledAt, status } = await this.#agent.order(node, this.users, `${name}-${index}`, index)
    if (status !== 'filled') throw new Error(`an order of the bench is ${status}, not filled`)
    return filledAt
  }
}
