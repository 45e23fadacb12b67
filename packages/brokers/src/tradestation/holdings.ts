/**
 * What is held just before an order. Orders that come together share one read: each gets one that began after it was given, and no account is
 * read more than once at a time, or a burst of orders would spend the quota of positions.
 */

import type { PositionReport, Snapshot } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

type Positions = Snapshot<PositionReport>

/** A read goes on when one of those who share it gives up, but not for ever. */
const READ_MS = 10_000

export interface HoldingsOptions {
  readonly clock: Clock
  /** With the priority of orders. @throws BrokerFault */
  readonly read: (account: string, signal: AbortSignal) => Promise<Positions>
}

export class Holdings {
  readonly #options: HoldingsOptions
  /** By account: the read under way, and the one that begins when it has ended. */
  readonly #running = new Map<string, Promise<unknown>>()
  readonly #next = new Map<string, Promise<Positions>>()

  constructor(options: HoldingsOptions) {
    this.#options = options
  }

  /** @throws BrokerFault; the signal's reason when it aborts first. */
  async now(account: string, signal: AbortSignal): Promise<Positions> {
    signal.throwIfAborted()
    const givenUp = Promise.withResolvers<never>()
    const giveUp = () => givenUp.reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([this.#next.get(account) ?? this.#begin(account), givenUp.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #begin(account: string): Promise<Positions> {
    const before = this.#running.get(account) ?? Promise.resolve()
    const read = before.then(() => {
      this.#next.delete(account)
      return this.#read(account)
    })
    this.#next.set(account, read)
    const ended = read.then(
      () => undefined,
      () => undefined
    )
    this.#running.set(account, ended)
    void ended.then(() => {
      if (this.#running.get(account) === ended) this.#running.delete(account)
    })
    return read
  }

  async #read(account: string): Promise<Positions> {
    const late = new AbortController()
    const alarm = this.#options.clock.alarm(READ_MS, () => late.abort(new Error(`positions could not be read within ${READ_MS} ms`)))
    try {
      return await this.#options.read(account, late.signal)
    } finally {
      alarm[Symbol.dispose]()
    }
  }
}
