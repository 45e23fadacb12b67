// Attempts as stored: JSON texts that only this program writes, so reading trusts them.
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'

export function writeDelivery(delivery: WebhookDelivery): string {
  return JSON.stringify(delivery)
}

/** Members that are added later must be read as null where absent. */
export function readDelivery(document: string): WebhookDelivery {
  return JSON.parse(document) as WebhookDelivery
}
