import type { Partition } from '@trunkline/core/domain/partition'

/** Counts who follows each partition. */
export class PartitionCounts {
  readonly #counts = new Map<Partition, number>()
  readonly #first: (partition: Partition) => void
  readonly #last: (partition: Partition) => void

  /** @param first called when a partition is followed that was not; @param last when it is not any more */
  constructor(first: (partition: Partition) => void, last: (partition: Partition) => void) {
    this.#first = first
    this.#last = last
  }

  get partitions(): ReadonlySet<Partition> {
    return new Set(this.#counts.keys())
  }

  follow(partition: Partition): Disposable {
    const count = this.#counts.get(partition) ?? 0
    this.#counts.set(partition, count + 1)
    if (count === 0) this.#first(partition)
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        this.#release(partition)
      }
    }
  }

  #release(partition: Partition): void {
    const left = (this.#counts.get(partition) ?? 1) - 1
    if (left > 0) {
      this.#counts.set(partition, left)
      return
    }
    this.#counts.delete(partition)
    this.#last(partition)
  }
}
