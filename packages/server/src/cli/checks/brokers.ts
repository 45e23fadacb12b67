import type { Offer } from '@trunkline/brokers/registry'
import type { Finding, Known } from '../../preflight/finding.ts'

/** Reports which brokers users can connect, and where their orders go. */
export function checkBrokers({ brokers, offers }: Known): readonly Finding[] {
  if (brokers === undefined || offers === undefined) return []
  const about = 'TRUNKLINE_BROKERS'
  if (brokers.length === 0) return [{ level: 'warning', about, message: 'no broker is offered: no user can connect' }]
  return offers.map(offer => ({ level: 'ok', about, message: `${offer.id} offered, ${describeTarget(offer)}` }))
}

function describeTarget(offer: Offer): string {
  if (offer.at === 'sandbox') return 'in the sandbox brokerage'
  return `for ${offer.environment} accounts at ${new URL(offer.ordersUrl).host}`
}
