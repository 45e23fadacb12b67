/** Credentials in memory, with the holder's promise: one renewal at a time, and none when somebody was quicker. */

import type { Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'

export class MemoryHolder implements CredentialsHolder {
  reads = 0
  renewals = 0
  #credentials: Credentials
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

  async renew(
    used: Credentials,
    refresh: (current: Credentials, signal: AbortSignal) => Promise<Credentials>,
    signal: AbortSignal
  ): Promise<Credentials> {
    if (this.#renewing !== null) return await this.#renewing
    if (JSON.stringify(used) !== JSON.stringify(this.#credentials)) return this.#credentials
    this.renewals += 1
    this.#renewing = refresh(this.#credentials, signal)
    try {
      this.#credentials = await this.#renewing
      return this.#credentials
    } finally {
      this.#renewing = null
    }
  }
}
