/** One streamed topic, and how far the sandbox is with it. */

import type { GapCause } from '@trunkline/core/ports/gap'
import * as kit from '../../kit/subscription.ts'

export class Subscription extends kit.Subscription {
  /** Number of the message that requests it on the current connection; null when none does. */
  requestNumber: number | null = null

  override lost(cause: GapCause, reason: string): void {
    this.requestNumber = null
    super.lost(cause, reason)
  }
}
