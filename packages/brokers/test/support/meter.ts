/** A meter that remembers what it counted. */

import type { CounterName, Meter } from '@trunkline/core/ports/meter'

export class MemoryMeter implements Meter {
  readonly #counts = new Map<string, number>()

  count(name: CounterName, labels: Readonly<Record<string, string>> = {}): void {
    const key = `${name} ${JSON.stringify(labels)}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  observe(): void {
    // Times are not used here.
  }

  counted(name: CounterName, labels: Readonly<Record<string, string>> = {}): number {
    return this.#counts.get(`${name} ${JSON.stringify(labels)}`) ?? 0
  }
}
