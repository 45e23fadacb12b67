/** The accounts of a login as far as they are known: their currencies, and which of them can be streamed. */

import type { BrokerAccount } from '@trunkline/core/ports/broker'
import type { Log } from '@trunkline/core/ports/log'
import type { Items } from '../record-lists.ts'
import { StreamFault } from '../stream-fault.ts'

export interface KnownAccountsOptions {
  /** @throws BrokerFault */
  readonly read: (signal: AbortSignal) => Promise<Items<BrokerAccount>>
  /** Accounts that one stream may have. */
  readonly streamedMax: number
  readonly log: Log
}

export class KnownAccounts {
  readonly #options: KnownAccountsOptions
  #known: readonly BrokerAccount[] = []
  /** Accounts that the broker ended a stream over. */
  readonly #forbidden = new Set<string>()

  constructor(options: KnownAccountsOptions) {
    this.#options = options
  }

  /** An account that a partial list lacks may be the one that could not be read, and stays as it was. */
  update({ known, leftOut }: Items<BrokerAccount>): void {
    const listed = new Set(known.map(({ brokerAccountId }) => brokerAccountId))
    const kept = leftOut.length === 0 ? [] : this.#known.filter(({ brokerAccountId }) => !listed.has(brokerAccountId))
    this.#known = [...known, ...kept]
  }

  /** The account's own currency; null when the broker does not know the account. @throws BrokerFault */
  async currencyOf(account: string, signal: AbortSignal): Promise<string | null> {
    const known = this.#find(account)
    if (known !== undefined) return known.currency
    this.update(await this.#options.read(signal))
    return this.#find(account)?.currency ?? null
  }

  /** The accounts of a stream request, with commas. @throws BrokerFault; StreamFault when nothing is left. */
  async streamed(signal: AbortSignal): Promise<string> {
    this.update(await this.#options.read(signal))
    const open = this.#known.filter(({ brokerAccountId }) => !this.#forbidden.has(brokerAccountId))
    if (open.length === 0) throw new StreamFault('refused', 'the login has no account that can be streamed')
    const { streamedMax, log } = this.#options
    if (open.length > streamedMax)
      log.error('a login has more accounts than are streamed', { accounts: open.length, streamed: streamedMax })
    return open
      .slice(0, streamedMax)
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
    this.#options.log.warn('the broker does not stream an account; it is read instead', { account })
  }

  #find(account: string): BrokerAccount | undefined {
    return this.#known.find(({ brokerAccountId }) => brokerAccountId === account)
  }
}
