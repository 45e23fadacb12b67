/** The one list of brokers. */

import type { BrokerId } from '@trunkline/core/domain/ids'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { ALPACA } from './alpaca/definition.ts'
import type { BrokerDeps } from './kit/deps.ts'
import type { Adapter, Offer, SandboxAccess } from './kit/settings.ts'
import { SANDBOX } from './sandbox/definition.ts'
import { TRADESTATION } from './tradestation/definition.ts'
import { TRADIER } from './tradier/definition.ts'

export type { Adapter, BrokerSetting, Offer, SandboxAccess } from './kit/settings.ts'
export { SettingMissing } from './kit/settings.ts'

/** Each broker is an entry here. */
export const ADAPTERS: readonly Adapter[] = [SANDBOX, ALPACA, TRADIER, TRADESTATION]

/** Disposing it closes the connections of every broker; each open `Broker` is its opener's to dispose first. */
export interface Brokers extends ReadonlyMap<BrokerId, BrokerDefinition>, AsyncDisposable {}

/**
 * Opens the configured brokers. `sandboxAccess` is how to reach the sandbox; null: there is none. @throws Error when a broker needs it
 * nevertheless.
 */
export function openBrokers(offers: readonly Offer[], deps: BrokerDeps, sandboxAccess: SandboxAccess | null): Brokers {
  const opened = offers.map(offer => {
    if (offer.at === 'broker') return offer.open(deps)
    if (sandboxAccess === null) throw new Error(`${offer.id} is offered at the sandbox brokerage, and there is none`)
    const { host } = sandboxAccess
    return host === undefined ? offer.open(deps, sandboxAccess) : { ...offer.open(deps, sandboxAccess), host }
  })
  const list = new Map<BrokerId, BrokerDefinition>(opened.map(definition => [definition.capabilities.id, definition]))
  return Object.assign(list, {
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(definition => definition[Symbol.asyncDispose]()))
    }
  })
}
