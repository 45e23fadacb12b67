import type { BrokerId } from '@trunkline/core/domain/ids'

/** The address a broker sends its user back to. One per broker, so that one broker's answer cannot pass as another's. */
export function callbackUrl(publicUrl: string, broker: BrokerId): string {
  return `${publicUrl}/connect/callback/${broker.toLowerCase()}`
}
