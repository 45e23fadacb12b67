import { ADAPTERS } from '@trunkline/brokers/registry'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import type { BrokerRows } from './pages/brokers.ts'
import { code } from './pages/markdown.ts'

/** The capabilities of every registered broker, sorted by id. */
export function knownBrokers(): readonly BrokerCapabilities[] {
  return ADAPTERS.map(({ capabilities }) => capabilities).sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The settings of each broker as rows of its page: name, default, description. */
export function brokerRows(): BrokerRows {
  return new Map(
    ADAPTERS.map(({ capabilities, settings }) => [
      capabilities.id,
      settings.map(({ env, fallback, about, secret }) => [
        code(env),
        fallback === '' ? '' : code(fallback),
        secret === true ? `*Secret.* ${about}` : about
      ])
    ])
  )
}
