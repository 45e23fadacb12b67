/** The account of a login that has one, where requests do not name it: what is meant for another account must not reach this one. */

import { type BrokerAccount, BrokerFault } from '@trunkline/core/ports/broker'

export class SoleAccount {
  readonly #read: (signal: AbortSignal) => Promise<readonly BrokerAccount[]>
  #id: string | null = null
  #reading: Promise<string> | null = null

  constructor(read: (signal: AbortSignal) => Promise<readonly BrokerAccount[]>) {
    this.#read = read
  }

  /** Its id at the broker, read once. @throws BrokerFault */
  async id(signal: AbortSignal): Promise<string> {
    if (this.#id !== null) return this.#id
    signal.throwIfAborted()
    this.#reading ??= this.#readId(signal).finally(() => {
      this.#reading = null
    })
    this.#id = await this.#reading
    return this.#id
  }

  /** @throws BrokerFault `refused` for any other account */
  async demand(account: string, signal: AbortSignal): Promise<void> {
    if (account !== (await this.id(signal))) throw new BrokerFault('refused', 'the account is not the one of this login at the broker')
  }

  async #readId(signal: AbortSignal): Promise<string> {
    const [account, other] = await this.#read(signal)
    if (account !== undefined && other === undefined) return account.brokerAccountId
    throw new BrokerFault('malformed', 'the broker did not answer with the one account of this login')
  }
}
