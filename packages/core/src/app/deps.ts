import type { BrokerId } from '../domain/ids.ts'
import type { BrokerDefinition } from '../ports/broker.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Meter } from '../ports/meter.ts'
import type { Store } from '../ports/store.ts'
import type { Hasher, Vault } from '../ports/vault.ts'
import type { AccessAudit } from './access-audit.ts'
import type { FreshnessReader } from './accounts/freshness-reader.ts'
import type { CredentialLookup } from './authenticate.ts'
import type { BrokerSessions } from './connections/broker-sessions.ts'
import type { Directory } from './connections/directory.ts'
import type { Removals } from './connections/removals.ts'
import type { Markets } from './market/markets.ts'
import type { Mirrors } from './mirror/mirrors.ts'
import type { UserWatch } from './mirror/user-watch.ts'
import type { OrderGateway } from './orders/order-gateway.ts'
import type { OrderPages } from './orders/order-pages.ts'
import type { OrderWriter } from './orders/order-writer.ts'
import type { Resolver } from './orders/resolver.ts'
import type { UnconfirmedIntents } from './orders/unconfirmed-intents.ts'
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
}

/** The same, with the long-lived parts of the application that use cases share. */
export interface AppDeps extends Deps {
  readonly lookup: CredentialLookup
  readonly accessAudit: AccessAudit
  readonly sessions: BrokerSessions
  readonly directory: Directory
  readonly removals: Removals
  readonly freshness: FreshnessReader
  readonly mirrors: Mirrors
  readonly markets: Markets
  readonly watch: UserWatch
  readonly orderGateway: OrderGateway
  readonly orderWriter: OrderWriter
  readonly unconfirmed: UnconfirmedIntents
  readonly orderPages: OrderPages
  readonly resolver: Resolver
}
