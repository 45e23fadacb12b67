import { addressGroup } from '../../auth/address.ts'

export interface SlotLimits {
  /** Authenticated sessions of the process. */
  readonly total: number
  /** Sessions of one user, and so of one token: a user has one token in use at a time. */
  readonly perUser: number
  /** Sessions of one IPv4 address or IPv6 /64. */
  readonly perAddress: number
  /** The part of the total that one platform may hold, in percent. */
  readonly platformPercent: number
}

export const SLOT_LIMITS: SlotLimits = { total: 10_000, perUser: 50, perAddress: 1_000, platformPercent: 50 }

/** The last part of the total, in percent, is for platforms that hold less than an equal share of it. */
const RESERVED_PERCENT = 20

/** The owner of a session. */
export interface SlotOwner {
  readonly platformId: string
  readonly address: string
}

/** Why there is no slot; the message may be shown. */
export class NoSlot extends Error {
  override readonly name = 'NoSlot'
}

/**
 * The slots of the market data stream, divided so that no tenant's sessions lock out another's. A platform holds at most its part of the
 * total; once four fifths of the total are taken, only platforms below an equal share get more.
 */
export class SessionSlots<Session> {
  readonly #limits: SlotLimits
  readonly #held = new Map<Session, SlotOwner>()
  readonly #platforms = new Map<string, number>()
  readonly #addresses = new Map<string, number>()

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#held.size
  }

  /** `ofUser`: sessions that the user keeps beside this one. @throws NoSlot, having taken nothing. */
  take(session: Session, owner: SlotOwner, ofUser: number): void {
    const { total, perUser, perAddress, platformPercent } = this.#limits
    if (ofUser >= perUser) throw new NoSlot(`This user has ${perUser} sessions, which is the limit; close one of them first.`)
    if ((this.#addresses.get(addressGroup(owner.address)) ?? 0) >= perAddress) {
      throw new NoSlot(`There are ${perAddress} sessions from this address, which is the limit; close one of them first.`)
    }
    const ofPlatform = this.#platforms.get(owner.platformId) ?? 0
    if (ofPlatform >= Math.ceil((total * platformPercent) / 100)) {
      throw new NoSlot(`This platform has ${ofPlatform} sessions, which is the limit; close some of them first.`)
    }
    if (this.#held.size >= total || (this.#isScarce() && ofPlatform >= this.#equalShare(ofPlatform))) {
      throw new NoSlot('The service has reached its limit of sessions; try again later.')
    }
    this.#held.set(session, owner)
    this.#count(owner, 1)
  }

  /** Does nothing if the session has none. */
  release(session: Session): void {
    const owner = this.#held.get(session)
    if (owner === undefined) return
    this.#held.delete(session)
    this.#count(owner, -1)
  }

  #isScarce(): boolean {
    return this.#held.size >= (this.#limits.total * (100 - RESERVED_PERCENT)) / 100
  }

  #equalShare(ofPlatform: number): number {
    return this.#limits.total / (this.#platforms.size + (ofPlatform === 0 ? 1 : 0))
  }

  #count({ platformId, address }: SlotOwner, by: number): void {
    add(this.#platforms, platformId, by)
    add(this.#addresses, addressGroup(address), by)
  }
}

function add(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
