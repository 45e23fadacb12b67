import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'

/**
 * The redirect URI of a broker's login. Each broker and environment has its own, so that the callback of one cannot pass as that of another
 * (mix-up attack). The sandbox has the URL without a suffix. The URLs with `paper` and `live` are registered at the real brokers.
 */
export function callbackUrl(publicUrl: string, broker: BrokerId, environment: Environment): string {
  const plain = `${publicUrl}/connect/callback/${broker.toLowerCase()}`
  return environment === 'sandbox' ? plain : `${plain}/${environment}`
}

/** The environment of a callback URL, from its last segment; null if the segment is unknown. */
export function environmentOf(segment: string | undefined): Environment | null {
  if (segment === undefined) return 'sandbox'
  return segment === 'paper' || segment === 'live' ? segment : null
}
