// What anybody outside has seen of orders: nothing that is shown later may be older than that.
import assert from 'node:assert/strict'
import type { UserId } from '@trunkline/core/domain/ids'
import { revisionOf, type WireRecord } from './user-record.ts'

interface Sighting {
  readonly userId: UserId
  readonly connectionId: string
  readonly revision: number
}

export type Sightings = ReadonlyMap<string, Sighting>

export class Witness {
  readonly #newest = new Map<string, Sighting>()

  /** An order that was answered, read or streamed. */
  saw(userId: UserId, order: WireRecord): void {
    const id = String(order.order_id)
    const revision = revisionOf(order)
    if ((this.#newest.get(id)?.revision ?? 0) < revision) {
      this.#newest.set(id, { userId, connectionId: String(order.connection_id), revision })
    }
  }

  /** What was seen until now, to be held against a read that begins now. */
  sightings(): Sightings {
    return new Map(this.#newest)
  }
}

/** @throws AssertionError when a read that began after the sightings shows less, but for what hangs on somebody `doomed`. */
export function assertNoOlder(orders: readonly WireRecord[], userId: UserId, before: Sightings, doomed: ReadonlySet<string>): void {
  const shown = new Map(orders.map(order => [String(order.order_id), order]))
  for (const [orderId, seen] of before) {
    if (seen.userId !== userId || doomed.has(seen.connectionId)) continue
    const order = shown.get(orderId)
    assert.ok(order !== undefined, `order ${orderId} was shown before, and a read leaves it out`)
    assert.ok(
      revisionOf(order) >= seen.revision,
      `order ${orderId} was shown in revision ${seen.revision}, and a read has ${revisionOf(order)}`
    )
  }
}
