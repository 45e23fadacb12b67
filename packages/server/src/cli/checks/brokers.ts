import type { Finding, Known } from './finding.ts'

/** Which brokers users can connect, and which of them the sandbox brokerage stands in for. */
export function checkBrokers({ brokers, offers }: Known): readonly Finding[] {
  if (brokers === undefined || offers === undefined) return []
  const about = 'TRUNKLINE_BROKERS'
  if (brokers.length === 0) return [{ level: 'warning', about, message: 'no broker is offered: nobody can connect' }]
  return offers.map(({ id, at }) => ({
    level: 'ok',
    about,
    message: at === 'broker' ? `${id} offered` : `${id} offered, in the sandbox brokerage`
  }))
}
