// What was asked for and what was answered: no order may exist that is not here, and no answered one may be missing.
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import type { CheckedUser, UserAccount } from './users.ts'

/** The terms of an order, which no other order of the check has: it is recognized by them at its broker. */
export interface Terms {
  readonly quantity: number
  /** In cents; null for a market order. */
  readonly cents: number | null
}

export interface Requested {
  readonly user: CheckedUser
  readonly account: UserAccount
  readonly clOrderId: string
  readonly terms: Terms
  /** The last answer; null while there is none. */
  answer: { readonly status: number; readonly body: Json } | null
}

/** A cancel, with its last answer. */
export interface Cancelled {
  readonly userId: string
  readonly orderId: string
  readonly answer: Requested['answer']
}

/** An attempt to place an order. */
export interface Attempt {
  readonly userId: string
  readonly at: number
  readonly endedAt: number
  readonly isAccepted: boolean
  /** The quantity, if the answer says that its broker has the order. */
  readonly sent: number | null
}

export class Ledger {
  /** By user, then by client order id. */
  readonly #requested = new Map<string, Map<string, Requested>>()
  readonly #accounts = new Map<number, UserAccount>()
  readonly #faults: string[] = []
  readonly #cancels: Cancelled[] = []
  readonly answers = new Map<string, number>()
  /** Quantities of orders that were placed at the sandbox itself. */
  readonly elsewhere = new Set<number>()
  /** Of this round. */
  attempts: Attempt[] = []
  #quantity = 0
  #names = 0

  /** A quantity that no order has had. */
  nextQuantity(): number {
    this.#quantity += 1
    return this.#quantity
  }

  nextName(): string {
    this.#names += 1
    return `check-${this.#names}`
  }

  request(requested: Omit<Requested, 'answer'>): Requested {
    const entry = { ...requested, answer: null }
    this.#accounts.set(requested.terms.quantity, requested.account)
    const { userId } = requested.user
    const own = this.#requested.get(userId) ?? new Map<string, Requested>()
    this.#requested.set(userId, own.set(requested.clOrderId, entry))
    return entry
  }

  requested(userId: string, clOrderId: string): Requested | null {
    return this.#requested.get(userId)?.get(clOrderId) ?? null
  }

  of(userId: string): readonly Requested[] {
    return [...(this.#requested.get(userId)?.values() ?? [])]
  }

  cancel(cancelled: Cancelled): void {
    this.#cancels.push(cancelled)
  }

  cancelsOf(userId: string): readonly Cancelled[] {
    return this.#cancels.filter(cancelled => cancelled.userId === userId)
  }

  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
  }

  fault(what: string): void {
    this.#faults.push(what)
  }

  /** What no client should be answered; each once. */
  takeFaults(): readonly string[] {
    return this.#faults.splice(0)
  }

  /** The account in which an order with this quantity was requested. */
  accountOf(quantity: number): UserAccount | null {
    return this.#accounts.get(quantity) ?? null
  }
}

export function keyOfTerms({ quantity, cents }: Terms): string {
  return cents === null ? String(quantity) : `${quantity}@${cents}`
}

export function priceOf(cents: number): string {
  return (cents / 100).toFixed(2)
}
