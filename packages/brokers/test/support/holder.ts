/** Credentials in memory, with the holder's guarantee: one renewal at a time, and none when another was quicker. */

import { BrokerFault, type Credentials, type CredentialsHolder, type CredentialsRefresh } from '@trunkline/core/ports/broker'

export class MemoryHolder implements CredentialsHolder {
  reads = 0
  renewals = 0
  #credentials: Credentials
  #isUncertain = false
  #renewing: Promise<Credentials> | null = null

  constructor(credentials: Credentials) {
    this.#credentials = credentials
  }

  get credentials(): Credentials {
    return this.#credentials
  }

  async read(): Promise<Credentials> {
    this.reads += 1
    return this.#credentials
  }

  async renew(used: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials> {
    if (this.#renewing !== null) return await this.#renewing
    if (JSON.stringify(used) !== JSON.stringify(this.#credentials)) return this.#credentials
    this.renewals += 1
    this.#renewing = refresh(this.#credentials, signal, this.#isUncertain)
    try {
      this.#credentials = await this.#renewing
      this.#isUncertain = false
      return this.#credentials
    } catch (error) {
      if (!(error instanceof BrokerFault && error.kind === 'credentials_rejected')) this.#isUncertain = true
      throw error
    } finally {
      this.#renewing = null
    }
  }
}
