/** API keys: one pair per customer, derived from the seed, the customer and the number of revocations. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Customer, Journal, type Pass } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'

export interface KeyPair {
  readonly keyId: string
  readonly secret: string
}

interface Revoked {
  readonly login: string
  readonly times: number
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const SCOPES = new Set(['trading', 'data'])

export class Keys {
  readonly #seed: string
  readonly #customers: BrokerageView['customers']
  readonly #revoked = new Map<string, number>()
  readonly #pairs = new Map<string, KeyPair>()
  readonly #owners = new Map<string, Customer>()
  readonly #journal: Journal<Revoked> | null

  /** `file` null: revocations do not survive the process. */
  constructor(seed: string, customers: BrokerageView['customers'], file: string | null) {
    this.#seed = `sandbox alpaca keys ${seed}`
    this.#customers = customers
    this.#journal = file === null ? null : new Journal<Revoked>(file, ({ login, times }) => this.#revoked.set(login, times))
  }

  pairOf(customer: Customer): KeyPair {
    const known = this.#pairs.get(customer.id)
    if (known !== undefined) return known
    const times = this.#revoked.get(customer.id) ?? 0
    const bytes = createHmac('sha512', this.#seed).update(`${customer.username} ${times}`).digest()
    // `PK` is how the keys of practice accounts begin.
    const keyId = `PK${[...bytes.subarray(0, 18)].map(byte => LETTERS[byte % LETTERS.length]).join('')}`
    const pair = { keyId, secret: bytes.subarray(18, 48).toString('base64url') }
    this.#pairs.set(customer.id, pair)
    this.#owners.set(keyId, customer)
    return pair
  }

  /** What a pair entitles to; undefined for one that is not good. */
  pass(keyId: string, secret: string): Pass | undefined {
    const customer = this.#ownerOf(keyId)
    if (customer === undefined || this.#customers.byId(customer.id) === undefined) return undefined
    const right = this.pairOf(customer)
    if (right.keyId !== keyId || !isSame(right.secret, secret)) return undefined
    return { login: customer.id, client: 'api-key', scopes: SCOPES, grant: grantOf(keyId), expiresAt: Number.MAX_SAFE_INTEGER }
  }

  /** The user has a new pair from now on. @returns the grant that ended */
  revoke(login: string): string | null {
    const customer = this.#customers.byId(login)
    if (customer === undefined) return null
    const { keyId } = this.pairOf(customer)
    const revoked = { login, times: (this.#revoked.get(login) ?? 0) + 1 }
    this.#journal?.append(revoked)
    this.#revoked.set(login, revoked.times)
    this.#pairs.delete(login)
    this.#owners.delete(keyId)
    return grantOf(keyId)
  }

  close(): void {
    this.#journal?.close()
  }

  #ownerOf(keyId: string): Customer | undefined {
    const known = this.#owners.get(keyId)
    if (known !== undefined) return known
    // Customers are created on demand, and each has a pair before anyone asked for it.
    return this.#customers.all().find(customer => this.pairOf(customer).keyId === keyId)
  }
}

function grantOf(keyId: string): string {
  return `alpaca-key-${keyId}`
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
