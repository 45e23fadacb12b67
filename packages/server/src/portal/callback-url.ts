import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'

/**
 * The address a broker sends its user back to. One per broker and environment, so that the answer of one cannot pass as another's. The sandbox
 * brokerage has the plain one: real environments are registered at real brokers, and named there.
 */
export function callbackUrl(publicUrl: string, broker: BrokerId, environment: Environment): string {
  const plain = `${publicUrl}/connect/callback/${broker.toLowerCase()}`
  return environment === 'sandbox' ? plain : `${plain}/${environment}`
}

/** The environment that an address ends with; null for one that is no callback's. */
export function environmentOf(segment: string | undefined): Environment | null {
  if (segment === undefined) return 'sandbox'
  return segment === 'paper' || segment === 'live' ? segment : null
}
