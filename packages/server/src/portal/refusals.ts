import type { Visitor } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { AuditStore } from '@trunkline/core/ports/store'

const BURST = 60
const REFILL_MS = 10_000

interface RefusalDeps {
  readonly store: { readonly audit: Pick<AuditStore, 'append'> }
  readonly clock: Clock
}

/**
 * Puts refused callbacks on the audit log, where nobody's attempt answers for them. Anybody can send one, so they are counted: at most 60 at
 * once and six a minute; beyond that they are only in the access log.
 */
export class Refusals {
  readonly #deps: RefusalDeps
  #left = BURST
  #refilledMs = 0

  constructor(deps: RefusalDeps) {
    this.#deps = deps
  }

  async note(broker: BrokerId | null, reason: string, { ip, requestId }: Visitor): Promise<void> {
    if (!this.#take()) return
    const at = this.#deps.clock.now()
    const target = broker ?? 'unknown'
    await this.#deps.store.audit.append({
      ...{ at, actor: 'anonymous', action: 'connection.callback', target, result: 'refused', ip, requestId },
      detail: { reason }
    })
  }

  #take(): boolean {
    const now = this.#deps.clock.monotonicMs()
    const refill = Math.floor((now - this.#refilledMs) / REFILL_MS)
    if (refill > 0) {
      this.#left = Math.min(BURST, this.#left + refill)
      this.#refilledMs += refill * REFILL_MS
    }
    if (this.#left === 0) return false
    this.#left -= 1
    return true
  }
}
