import { ByOrigin, originOf } from './by-origin.ts'

export interface AdmissionLimits {
  readonly total: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly perAddress: number
  /** Of one IPv4 /24 or IPv6 /48. */
  readonly perNetwork: number
  /** A member this old may be sent away for another of its own address or network, and goes first when there are too many in all. */
  readonly graceMs: number
}

/** Whether a newcomer may come in, and the member that has to go for it, already removed. */
export type Admission<Member> = { readonly isAdmitted: true; readonly evicted: Member | null } | { readonly isAdmitted: false }

/**
 * Members that have shown nothing yet, in the order in which they came, by address and network. At the bound of an address or a network its
 * oldest goes if its grace is over; until then the newcomer is refused, and has to come again: were the oldest sent away at once, more
 * honest clients of one address than the bound allows would push each other out for ever. A member that has shown something is deleted by whoever
 * added it, at that moment, so that no arrival has to look for it: every step takes constant time. In all, the oldest past its grace goes, else the
 * oldest of the most crowded network. So a flood is a matter of its own address and network, and whoever comes from elsewhere does not feel it.
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

  /** Makes room for one from `ip` (null: of no group), to be asked before {@link add}. */
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

  /** The next to go when room is needed for something else; null when nobody is there. Removed by it. */
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
