/** The accounts of a login as far as they are known: their currencies, and which of them can be streamed. */

import type { BrokerAccount } from '@trunkline/core/ports/broker'
import type { Log } from '@trunkline/core/ports/log'
import { StreamFault } from '../kit/stream-fault.ts'

/** Accounts that one stream may have. */
const STREAMED_MAX = 25

export class AccountState {
  readonly #read: (signal: AbortSignal) => Promise<readonly BrokerAccount[]>
  readonly #log: Log
  #known: readonly BrokerAccount[] | null = null
  /** Accounts that the broker ended a stream over. */
  readonly #forbidden = new Set<string>()

  constructor(read: (signal: AbortSignal) => Promise<readonly BrokerAccount[]>, log: Log) {
    this.#read = read
    this.#log = log
  }

  update(accounts: readonly BrokerAccount[]): void {
    this.#known = accounts
  }

  /** The account's own currency; null when the broker does not know the account. @throws BrokerFault */
  async currencyOf(account: string, signal: AbortSignal): Promise<string | null> {
    const known = this.#find(account)
    if (known !== undefined) return known.currency
    this.#known = await this.#read(signal)
    return this.#find(account)?.currency ?? null
  }

  /** The accounts of a stream request, with commas. @throws BrokerFault; StreamFault when nothing is left. */
  async streamed(signal: AbortSignal): Promise<string> {
    this.#known = await this.#read(signal)
    const open = this.#known.filter(({ brokerAccountId }) => !this.#forbidden.has(brokerAccountId))
    if (open.length === 0) throw new StreamFault('refused', 'the login has no account that can be streamed')
    if (open.length > STREAMED_MAX)
      this.#log.error('a login has more accounts than are streamed', { accounts: open.length, streamed: STREAMED_MAX })
    return open
      .slice(0, STREAMED_MAX)
      .map(({ brokerAccountId }) => encodeURIComponent(brokerAccountId))
      .join(',')
  }

  isOurs(account: string): boolean {
    return this.#find(account) !== undefined
  }

  /** The broker ended a stream because of this account: the next one goes without it. */
  forbid(account: unknown): void {
    if (typeof account !== 'string' || !this.isOurs(account)) return
    this.#forbidden.add(account)
    this.#log.warn('the broker does not stream an account; it is read instead', { account })
  }

  #find(account: string): BrokerAccount | undefined {
    return this.#known?.find(({ brokerAccountId }) => brokerAccountId === account)
  }
}
