import { ByOrigin, originOf } from './by-origin.ts'

export interface AdmissionLimits {
  readonly total: number
  /** Members of one IPv4 address or IPv6 /64. */
  readonly perAddress: number
  /** Members of one IPv4 /24 or IPv6 /48. */
  readonly perNetwork: number
  /**
   * Age in milliseconds from which a member may be evicted for another of its address or network, and is evicted first at the total limit.
   */
  readonly graceMs: number
}

/** Whether a new member is admitted, and the member that was evicted for it, already removed. */
export type Admission<Member> = { readonly isAdmitted: true; readonly evicted: Member | null } | { readonly isAdmitted: false }

/**
 * Unauthenticated members in order of arrival, by address and network. At the limit of an address or a network its oldest is evicted if its
 * grace is over; until then the newcomer is refused and must retry. If the oldest were evicted at once, more honest clients of one address
 * than the limit would evict each other for ever. The code that added a member deletes it once it has authenticated, so that no arrival has
 * to search: every step takes constant time. At the total limit, the oldest past its grace is evicted, else the oldest of the most crowded
 * network. So a flood affects only its own address and network.
 */
export class AdmissionControl<Member> {
  readonly #limits: AdmissionLimits
  readonly #monotonicMs: () => number
  readonly #members = new ByOrigin<Member>()
  readonly #since = new Map<Member, number>()

  constructor(limits: AdmissionLimits, monotonicMs: () => number) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  get size(): number {
    return this.#members.size
  }

  /** Admits a member from `ip` (null: of no group), evicting another if needed; call it before {@link add}. */
  admit(ip: string | null): Admission<Member> {
    const { perAddress, perNetwork, total } = this.#limits
    const origin = originOf(ip)
    const { addresses, networks } = this.#members
    const groups =
      origin === null
        ? []
        : [
            { groups: addresses, name: origin.address, max: perAddress },
            { groups: networks, name: origin.network, max: perNetwork }
          ]
    let evicted: Member | null = null
    for (const { groups: kind, name, max } of groups) {
      if (kind.sizeOf(name) < max) continue
      const oldest = kind.oldestOf(name)
      if (oldest === null || !this.#isPastGrace(oldest)) return { isAdmitted: false }
      this.delete(oldest)
      evicted = oldest
    }
    return { isAdmitted: true, evicted: this.#members.size >= total ? this.evict() : evicted }
  }

  add(member: Member, ip: string | null): void {
    this.#members.add(member, originOf(ip))
    this.#since.set(member, this.#monotonicMs())
  }

  delete(member: Member): boolean {
    this.#since.delete(member)
    return this.#members.delete(member)
  }

  has(member: Member): boolean {
    return this.#members.has(member)
  }

  /** Removes the next member to evict if capacity is needed elsewhere; null if there is none. */
  evict(): Member | null {
    const { oldest, networks } = this.#members
    if (oldest === null) return null
    const evicted = this.#isPastGrace(oldest) ? oldest : (networks.oldestOfLargest() ?? oldest)
    this.delete(evicted)
    return evicted
  }

  #isPastGrace(member: Member): boolean {
    return this.#monotonicMs() - (this.#since.get(member) ?? 0) >= this.#limits.graceMs
  }
}
