import { addressGroup, networkGroup } from './address.ts'

export interface CrowdLimits {
  readonly total: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly perAddress: number
  /** Of one IPv4 /24 or IPv6 /48. */
  readonly perNetwork: number
  /** A member this old goes first when there are too many in all. */
  readonly graceMs: number
}

interface Place {
  readonly address: string
  readonly network: string
  readonly since: number
}

/**
 * Members that have shown nothing yet, in the order in which they came, by address and network. It never refuses anybody: at a bound the oldest
 * goes, of the address, of the network, or of all. In all that is the oldest past its grace, else the oldest of the most crowded network. So a
 * flood pushes out itself, and whoever comes from elsewhere and shows something soon is not felt by it. Every step takes constant time.
 */
export class Crowd<Member> {
  readonly #limits: CrowdLimits
  readonly #monotonicMs: () => number
  readonly #places = new Map<Member, Place>()
  readonly #addresses = new Groups<Member>()
  readonly #networks = new Groups<Member>()

  constructor(limits: CrowdLimits, monotonicMs: () => number) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  get size(): number {
    return this.#places.size
  }

  /** Takes a member in. Returns the one that has to go for it, already removed. `ip` null: one that no group is counted for. */
  add(member: Member, ip: string | null, isSettled: (member: Member) => boolean = () => false): Member | null {
    const place = { address: ip === null ? '' : addressGroup(ip), network: ip === null ? '' : networkGroup(ip), since: this.#monotonicMs() }
    let victim = this.#surplus(place)
    // A member that has shown something meanwhile has left the crowd and stays.
    while (victim !== null) {
      this.delete(victim)
      if (!isSettled(victim)) break
      victim = this.#surplus(place)
    }
    this.#places.set(member, place)
    if (place.address !== '') this.#addresses.add(place.address, member)
    if (place.network !== '') this.#networks.add(place.network, member)
    return victim
  }

  delete(member: Member): boolean {
    const place = this.#places.get(member)
    if (place === undefined) return false
    this.#places.delete(member)
    if (place.address !== '') this.#addresses.delete(place.address, member)
    if (place.network !== '') this.#networks.delete(place.network, member)
    return true
  }

  has(member: Member): boolean {
    return this.#places.has(member)
  }

  /** The next to go when room is needed for something else; null when nobody is there. Removed by it. */
  evict(): Member | null {
    const victim = this.#next()
    if (victim !== null) this.delete(victim)
    return victim
  }

  /** Those that no longer belong here are let go. */
  prune(isSettled: (member: Member) => boolean): void {
    for (const member of this.#places.keys()) if (isSettled(member)) this.delete(member)
  }

  #surplus({ address, network }: Place): Member | null {
    const { total, perAddress, perNetwork } = this.#limits
    if (this.#addresses.sizeOf(address) >= perAddress) return this.#addresses.oldestOf(address)
    if (this.#networks.sizeOf(network) >= perNetwork) return this.#networks.oldestOf(network)
    return this.#places.size >= total ? this.#next() : null
  }

  #next(): Member | null {
    const [oldest] = this.#places
    if (oldest === undefined) return null
    const [member, { since }] = oldest
    if (this.#monotonicMs() - since >= this.#limits.graceMs) return member
    return this.#networks.oldestOfLargest() ?? member
  }
}

/** Members by group, each group in the order in which they came, and the largest group at hand. */
class Groups<Member> {
  readonly #groups = new Map<string, Set<Member>>()
  /** Names of groups by their size. */
  readonly #bySize = new Map<number, Set<string>>()
  #largest = 0

  sizeOf(name: string): number {
    return this.#groups.get(name)?.size ?? 0
  }

  oldestOf(name: string): Member | null {
    const [oldest] = this.#groups.get(name) ?? []
    return oldest ?? null
  }

  oldestOfLargest(): Member | null {
    const [name] = this.#bySize.get(this.#largest) ?? []
    return name === undefined ? null : this.oldestOf(name)
  }

  add(name: string, member: Member): void {
    const group = this.#groups.get(name) ?? new Set<Member>()
    this.#groups.set(name, group.add(member))
    this.#moved(name, group.size - 1, group.size)
    this.#largest = Math.max(this.#largest, group.size)
  }

  delete(name: string, member: Member): void {
    const group = this.#groups.get(name)
    if (group?.delete(member) !== true) return
    this.#moved(name, group.size + 1, group.size)
    if (group.size === 0) this.#groups.delete(name)
    // Sizes change by one, so the next largest is at most one smaller.
    if (!this.#bySize.has(this.#largest)) this.#largest -= 1
  }

  #moved(name: string, from: number, to: number): void {
    const left = this.#bySize.get(from)
    left?.delete(name)
    if (left?.size === 0) this.#bySize.delete(from)
    if (to > 0) this.#bySize.set(to, (this.#bySize.get(to) ?? new Set<string>()).add(name))
  }
}
