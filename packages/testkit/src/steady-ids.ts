import { createHash } from 'node:crypto'
import type { Brand } from '@trunkline/core/domain/brand'
import { parseUuid } from '@trunkline/core/domain/ids'
import type { Ids } from '@trunkline/core/ports/ids'

let counted = 0

/** Ids that are counted up, over all instances of a process, and no jitter: the same steps give the same ids and take the same time. */
export class SteadyIds implements Ids {
  uuid<Id extends Brand<string, string>>(): Id {
    const count = (++counted).toString(16).padStart(24, '0')
    return parseUuid<Id>(
      `${count.slice(0, 8)}-${count.slice(8, 12)}-7${count.slice(12, 15)}-8${count.slice(15, 18)}-${count.slice(18)}000000`,
      'id'
    )
  }

  secret(prefix: string): string {
    return prefix + createHash('sha256').update(String(++counted)).digest('base64url')
  }

  fraction(): number {
    return 0.5
  }
}
