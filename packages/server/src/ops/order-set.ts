import { createHash } from 'node:crypto'
import type { OrderId } from '@trunkline/core/domain/ids'

/** Names a set of orders by their ids, regardless of sequence: 16 hexadecimal digits. */
export function nameOfSet(orderIds: readonly OrderId[]): string {
  return createHash('sha256').update(orderIds.toSorted().join(' ')).digest('hex').slice(0, 16)
}
