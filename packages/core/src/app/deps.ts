import type { BrokerId } from '../domain/ids.ts'
import type { BrokerDefinition } from '../ports/broker.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Meter } from '../ports/meter.ts'
import type { Ownership } from '../ports/ownership.ts'
import type { Store } from '../ports/store.ts'
import type { Hasher, Vault } from '../ports/vault.ts'
import type { Timing } from './timing.ts'

/** The dependencies of every use case. Built once, in the composition root. */
export interface Deps {
  readonly store: Store
  readonly brokers: ReadonlyMap<BrokerId, BrokerDefinition>
  readonly bus: Bus
  readonly clock: Clock
  readonly ids: Ids
  readonly vault: Vault
  readonly hasher: Hasher
  readonly log: Log
  readonly meter: Meter
  readonly timing: Timing
  readonly ownership: Ownership
}
