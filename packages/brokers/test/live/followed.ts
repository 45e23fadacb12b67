// Listens to an account stream and remembers which orders it told of.
import type { Broker } from '@trunkline/core/ports/broker'

export class Followed implements Disposable {
  readonly #ending = new AbortController()
  readonly #orders = new Set<string>()
  readonly #gaps: string[] = []

  constructor(broker: Broker) {
    void this.#follow(broker)
  }

  hasSeen(brokerOrderId: string): boolean {
    return this.#orders.has(brokerOrderId)
  }

  /** What was amiss with it, in words that may end a sentence; empty when nothing was. */
  trouble(): string {
    return this.#gaps.length === 0 ? '' : `, with gaps: ${this.#gaps.join('; ')}`
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
  }

  async #follow(broker: Broker): Promise<void> {
    try {
      for await (const event of broker.events(this.#ending.signal)) {
        if (event.type === 'order') this.#orders.add(event.report.brokerOrderId)
        if (event.type === 'gap') this.#gaps.push(event.reason)
      }
    } catch (cause) {
      if (!this.#ending.signal.aborted) this.#gaps.push(String(cause))
    }
  }
}
