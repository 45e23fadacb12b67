import { knownBrokers } from '../known-brokers.ts'
import type { Finding, Known } from './finding.ts'

/** Names of brokers that this version has no adapter for. */
export async function checkBrokers({ brokers }: Known): Promise<readonly Finding[]> {
  if (brokers === undefined) return []
  const about = 'TRUNKLINE_BROKERS'
  if (brokers.length === 0) return [{ level: 'warning', about, message: 'no broker is offered: nobody can connect' }]
  const known = (await knownBrokers()).map(({ id }) => String(id))
  const unknown = brokers.filter(name => !known.includes(name))
  return unknown.length === 0
    ? [{ level: 'ok', about, message: `${brokers.join(', ')} offered` }]
    : [{ level: 'fault', about, message: `${unknown.join(', ')} is not known here; there are ${known.join(', ')}` }]
}
