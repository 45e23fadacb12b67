// What must hold of several nodes at every moment, by those who see all of them: the brokers, and the database.
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { SentCommand } from '@trunkline/testkit/scripted-broker/index'
import type { Login } from '../scene.ts'
import type { Leases } from './leases.ts'

interface JudgeDeps {
  readonly leases: Leases
  readonly nameOf: (nodeId: NodeId | null) => string
  readonly fail: (cause: Error) => void
}

export class NodesJudge {
  readonly #deps: JudgeDeps
  /** Which node sent each order, by its client order id at its broker. */
  readonly #sent = new Map<string, NodeId>()

  constructor(deps: JudgeDeps) {
    this.#deps = deps
  }

  /** The first byte of a command leaves a node. */
  sent({ owner: { user }, broker }: Login, { kind, target }: SentCommand, by: NodeId): void {
    const { leases, nameOf, fail } = this.#deps
    const what = `${broker.capabilities.id} was sent a ${kind} of ${target} by ${nameOf(by)}`
    const owner = leases.ownerOf(user.userKey)
    if (owner !== by) fail(new Error(`${what}, and the user belongs to ${nameOf(owner)}`))
    if (kind !== 'submit') return
    const id = `${broker.capabilities.id} ${target}`
    const before = this.#sent.get(id)
    if (before !== undefined) fail(new Error(`${what}, and by ${nameOf(before)} before`))
    this.#sent.set(id, by)
  }

  /** A write with events was carried out that was made under a fence. */
  wrote(what: string, userKey: UserKey, fence: number | null): void {
    const { leases, fail } = this.#deps
    const present = leases.fenceOf(userKey)
    if (fence !== present) fail(new Error(`${what} was carried out under fence ${fence}, and the fence is ${present}`))
  }
}
