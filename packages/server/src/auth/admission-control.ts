import { ByOrigin, originOf } from './by-origin.ts'

export interface AdmissionLimits {
  readonly total: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly perAddress: number
  /** Of one IPv4 /24 or IPv6 /48. */
  readonly perNetwork: number
  /** A member this old may be evicted for another of its own address or network, and goes first when there are too many in total. */
  readonly graceMs: number
}

/** Whether a new member is admitted, and the member that was evicted for it, already removed. */
export type Admission<Member> = { readonly isAdmitted: true; readonly evicted: Member | null } | { readonly isAdmitted: false }

/**
 * Members that have proved nothing yet, in order of arrival, by address and network. At the bound of an address or a network its
 * oldest is evicted if its grace is over; until then the new one is refused and has to retry: were the oldest evicted at once, more
 * honest clients of one address than the bound allows would evict each other for ever. A member that has proved something is deleted by the code that
 * added it, at that moment, so that no arrival has to look for it: every step takes constant time. Overall, the oldest past its grace is evicted, else the
 * oldest of the most crowded network. So a flood affects its own address and network only.
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

  /** Admits one from `ip` (null: of no group), evicting another if needed; to be called before {@link add}. */
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

  /** Removes the next one to evict when capacity is needed elsewhere; null when there is none. */
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
