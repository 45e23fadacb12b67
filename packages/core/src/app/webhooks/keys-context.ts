import type { WebhookEndpoint } from '../../domain/webhook.ts'
import type { SealContext } from '../../ports/vault.ts'

/** What the seal of an endpoint's keys is bound to: its row, and the revision that the keys have there. */
export function webhookKeysContext(
  { endpointId, platformId }: Pick<WebhookEndpoint, 'endpointId' | 'platformId'>,
  revision: number
): SealContext {
  return { table: 'webhook_endpoints', column: 'keys', rowId: endpointId, ownerId: platformId, revision }
}
