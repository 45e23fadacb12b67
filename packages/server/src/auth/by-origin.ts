import { addressGroup, networkGroup } from './address.ts'

/** The origin by which a member is counted. */
export interface Origin {
  /** An IPv4 address or IPv6 /64. */
  readonly address: string
  /** An IPv4 /24 or IPv6 /48. */
  readonly network: string
}

/** If `ip` is null or empty, the member counts for no group. */
export function originOf(ip: string | null): Origin | null {
  return ip === null || ip === '' ? null : { address: addressGroup(ip), network: networkGroup(ip) }
}

/** Members in the order in which they were added: in all, by address and by network. Every step takes constant time. */
export class ByOrigin<Member> {
  readonly addresses = new Groups<Member>()
  readonly networks = new Groups<Member>()
  readonly #origins = new Map<Member, Origin | null>()

  get size(): number {
    return this.#origins.size
  }

  /** Null when there is none. */
  get oldest(): Member | null {
    const [oldest] = this.#origins.keys()
    return oldest ?? null
  }

  [Symbol.iterator](): Iterator<Member> {
    return this.#origins.keys()
  }

  has(member: Member): boolean {
    return this.#origins.has(member)
  }

  /** An existing member keeps its position. */
  add(member: Member, origin: Origin | null): void {
    if (this.#origins.has(member)) return
    this.#origins.set(member, origin)
    if (origin === null) return
    this.addresses.add(origin.address, member)
    this.networks.add(origin.network, member)
  }

  delete(member: Member): boolean {
    const origin = this.#origins.get(member)
    if (origin === undefined) return false
    this.#origins.delete(member)
    if (origin === null) return true
    this.addresses.delete(origin.address, member)
    this.networks.delete(origin.network, member)
    return true
  }
}

/** Members by group, in order of arrival, with the largest group known. */
class Groups<Member> {
  readonly #groups = new Map<string, Set<Member>>()
  /** Names of groups by their size. */
  readonly #bySize = new Map<number, Set<string>>()
  #largest = 0

  sizeOf(name: string): number {
    return this.#groups.get(name)?.size ?? 0
  }

  /** A group's members, oldest first. */
  of(name: string): Iterable<Member> {
    return this.#groups.get(name) ?? []
  }

  oldestOf(name: string): Member | null {
    const [oldest] = this.of(name)
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
    if (to === 0) return
    const joined = this.#bySize.get(to)
    if (joined !== undefined) joined.add(name)
    else this.#bySize.set(to, (left?.size === 0 ? left : new Set<string>()).add(name))
  }
}
