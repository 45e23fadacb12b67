// Listens to an account stream and records which orders it reported.
import type { Broker } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

export class Followed implements Disposable {
  readonly #closing = new AbortController()
  readonly #orders = new Set<string>()
  readonly #gaps: string[] = []
  readonly #live = Promise.withResolvers<boolean>()

  constructor(broker: Broker) {
    void this.#follow(broker)
  }

  /** Resolves when the stream is up; false when it is not within `patienceMs`. */
  async isLive(clock: Clock, patienceMs: number): Promise<boolean> {
    using _patience = clock.alarm(patienceMs, () => this.#live.resolve(false))
    return await this.#live.promise
  }

  hasSeen(brokerOrderId: string): boolean {
    return this.#orders.has(brokerOrderId)
  }

  /** What was wrong with it, as the end of a sentence; empty when nothing was. */
  problem(): string {
    return this.#gaps.length === 0 ? '' : `, with gaps: ${this.#gaps.join('; ')}`
  }

  [Symbol.dispose](): void {
    this.#closing.abort()
  }

  async #follow(broker: Broker): Promise<void> {
    try {
      for await (const event of broker.events(this.#closing.signal)) {
        if (event.type === 'order') this.#orders.add(event.report.brokerOrderId)
        if (event.type === 'live') this.#live.resolve(true)
        if (event.type === 'gap') this.#gaps.push(event.reason)
      }
    } catch (cause) {
      if (!this.#closing.signal.aborted) this.#gaps.push(String(cause))
    }
  }
}
