/** The one list of brokers. */

import type { BrokerId } from '@trunkline/core/domain/ids'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { type BrokerDeps, type SandboxSettings, sandbox } from './sandbox/index.ts'

/** A broker whose settings are left out is not offered. */
export interface BrokerSettings extends BrokerDeps {
  readonly sandbox?: SandboxSettings
}

/** Disposing it closes the connections of every broker; each open `Broker` is its opener's to dispose first. */
export interface Brokers extends ReadonlyMap<BrokerId, BrokerDefinition>, AsyncDisposable {}

export function brokers(settings: BrokerSettings): Brokers {
  const offered: (BrokerDefinition & AsyncDisposable)[] = []
  if (settings.sandbox !== undefined) offered.push(sandbox(settings.sandbox, settings))

  const list = new Map<BrokerId, BrokerDefinition>(offered.map(definition => [definition.capabilities.id, definition]))
  return Object.assign(list, {
    async [Symbol.asyncDispose]() {
      await Promise.all(offered.map(definition => definition[Symbol.asyncDispose]()))
    }
  })
}
