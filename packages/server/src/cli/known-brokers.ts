import { ADAPTERS } from '@trunkline/brokers/registry'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

/** What every broker of the registry can do, by name. */
export function knownBrokers(): readonly BrokerCapabilities[] {
  return ADAPTERS.map(({ capabilities }) => capabilities).sort((a, b) => (a.id < b.id ? -1 : 1))
}
