// The tables of members and partitions by the simulation's time, with the rules of the functions in the migration
// `0021-members-and-partitions.sql`, which `test/cluster/members` tests on the database itself.
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Command, MemberRow, MembersView, Node } from '../../../src/cluster/members/messages.ts'

interface Member extends Node {
  readonly joinedAt: number
  endsAt: number
  renewals: number
  isDraining: boolean
}

/** Fences that grew. The database of the orders has to know them before another write is judged. */
export type Fences = ReadonlyMap<Partition, number>

/** A member is forgotten so long after its lease. */
const FORGOTTEN_MS = 600_000

type Claim = Extract<Command, { readonly kind: 'claim' }>

export class Leases {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #members = new Map<NodeId, Member>()
  readonly #owners = new Map<Partition, NodeId>()
  readonly #fences = new Map<Partition, number>()
  /** By partition, as nodes read them; null once something changed. */
  #read: Pick<MembersView, 'owners' | 'fences'> | null = null
  /** Called when members or partitions changed. */
  announce: () => void = () => undefined

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  ownerOf(userKey: UserKey): NodeId | null {
    return this.#owners.get(partitionOf(userKey)) ?? null
  }

  fenceOf(userKey: UserKey): number {
    return this.#fences.get(partitionOf(userKey)) ?? 0
  }

  join(node: Node, leaseMs: number): void {
    const now = this.#clock.monotonicMs()
    if (!this.#members.has(node.nodeId))
      this.#members.set(node.nodeId, { ...node, joinedAt: now, endsAt: now + leaseMs, renewals: 0, isDraining: false })
    this.announce()
  }

  /** Null: the lease had ended. */
  renew(nodeId: NodeId, leaseMs: number): MembersView | null {
    const member = this.#members.get(nodeId)
    if (member === undefined || this.#hasEnded(member)) return null
    member.endsAt = this.#clock.monotonicMs() + leaseMs
    member.renewals += 1
    for (const [id, { endsAt }] of this.#members) if (endsAt <= this.#clock.monotonicMs() - FORGOTTEN_MS) this.#members.delete(id)
    return this.#view()
  }

  /** Gives the fences that grew. */
  execute(nodeId: NodeId, command: Command): Fences {
    this.#read = null
    const grown = command.kind === 'claim' ? this.#claim(nodeId, command) : new Map<Partition, number>()
    if (command.kind === 'release') this.#release(nodeId, command.partitions)
    const member = this.#members.get(nodeId)
    if (command.kind === 'drain' && member !== undefined) member.isDraining = true
    if (command.kind === 'leave') {
      this.#release(nodeId, ALL_PARTITIONS)
      this.#members.delete(nodeId)
    }
    if (command.kind !== 'claim' || grown.size > 0) this.announce()
    return grown
  }

  #claim(nodeId: NodeId, { partitions, silent }: Claim): Map<Partition, number> {
    const grown = new Map<Partition, number>()
    const claimant = this.#members.get(nodeId)
    if (claimant === undefined || claimant.isDraining || this.#hasEnded(claimant)) return grown
    const isSilent = (member: Member) => silent.some(seen => seen.nodeId === member.nodeId && seen.renewals === member.renewals)
    for (const partition of partitions) {
      const owner = this.#members.get(this.#owners.get(partition) ?? nodeId)
      const isOwned = this.#owners.has(partition) && owner !== undefined
      if (isOwned && (owner === claimant || !(this.#hasEnded(owner) || isSilent(owner)))) continue
      const fence = (this.#fences.get(partition) ?? 0) + 1
      this.#owners.set(partition, nodeId)
      this.#fences.set(partition, fence)
      grown.set(partition, fence)
    }
    return grown
  }

  #release(nodeId: NodeId, partitions: readonly Partition[]): void {
    for (const partition of partitions) if (this.#owners.get(partition) === nodeId) this.#owners.delete(partition)
  }

  #hasEnded({ endsAt }: Member): boolean {
    return endsAt <= this.#clock.monotonicMs()
  }

  #view(): MembersView {
    const now = this.#clock.monotonicMs()
    const members = [...this.#members.values()].map(
      ({ nodeId, url, name, renewals, isDraining, endsAt, joinedAt }): MemberRow => ({
        ...{ nodeId, url, name, renewals, isDraining },
        leaseMs: endsAt - now,
        joinedMs: now - joinedAt
      })
    )
    this.#read ??= {
      owners: ALL_PARTITIONS.map(partition => this.#owners.get(partition) ?? null),
      fences: ALL_PARTITIONS.map(partition => this.#fences.get(partition) ?? 0)
    }
    return { members, ...this.#read }
  }
}
