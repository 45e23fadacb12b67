import { AccessAudit } from './access-audit.ts'
import { FreshnessReader } from './accounts/freshness-reader.ts'
import type { CredentialLookup } from './authenticate.ts'
import { BrokerSessions } from './connections/broker-sessions.ts'
import { Directory } from './connections/directory.ts'
import { Removals } from './connections/removals.ts'
import { Revocations } from './connections/revocations.ts'
import type { AppDeps, Deps } from './deps.ts'
import { Markets } from './market/markets.ts'
import { AccountRecords } from './mirror/account-records.ts'
import { Mirrors } from './mirror/mirrors.ts'
import { OrderIntake } from './mirror/order-intake.ts'
import { OrderSnapshots } from './mirror/order-snapshots.ts'
import { UntaggedOrders } from './mirror/untagged-orders.ts'
import { UserWatch } from './mirror/user-watch.ts'
import { OrderGateway } from './orders/order-gateway.ts'
import { OrderPages } from './orders/order-pages.ts'
import { OrderWriter } from './orders/order-writer.ts'
import { Resolver } from './orders/resolver.ts'
import { UnconfirmedIntents } from './orders/unconfirmed-intents.ts'

/** A part that must be stopped, and its name in the log. */
export interface Stoppable {
  readonly name: string
  stop(): Promise<void>
}

/**
 * The dependencies of the use cases, and the parts behind them. Nothing is started: call `app.mirrors.start()`, which resumes open orders,
 * and `revocations.start()`.
 */
export interface Application extends AsyncDisposable {
  readonly app: AppDeps
  readonly sessions: BrokerSessions
  readonly intake: OrderIntake
  readonly records: AccountRecords
  readonly revocations: Revocations
  /** In order of dependency; to be stopped from last to first. */
  readonly parts: readonly Stoppable[]
  /** Stops every part. Idempotent. */
  stop(): Promise<void>
}

/** Builds the application layer. `lookup` reads the credentials of platforms and users, from a cache or from the store. */
export function application(deps: Deps, lookup: CredentialLookup): Application {
  const sessions = new BrokerSessions(deps)
  const orderWriter = new OrderWriter(deps)
  const orderGateway = new OrderGateway(deps, orderWriter, sessions)
  const resolver = new Resolver(deps, { orderWriter, gateway: orderGateway, sessions })
  orderGateway.onUnresolved(placed => resolver.watch(placed))
  const records = new AccountRecords(deps)
  const untagged = new UntaggedOrders(deps, orderWriter, orderGateway)
  const intake = new OrderIntake(deps, { orderWriter, gateway: orderGateway, untagged })
  const snapshots = new OrderSnapshots(deps, { intake, orderWriter, gateway: orderGateway, untagged })
  resolver.onUntagged(async ({ connection, account }, signal) => {
    await snapshots.shared(sessions.get(connection), connection, account, signal)
  })
  const markets = new Markets(deps, sessions)
  const mirrors = new Mirrors(deps, {
    sessions,
    isWatched: id => markets.isFollowed(id),
    intake,
    records,
    snapshots,
    orderWriter,
    gateway: orderGateway,
    resolver
  })
  const unconfirmed = new UnconfirmedIntents(deps, {
    orderWriter,
    gateway: orderGateway,
    resolve: placed => {
      mirrors.want(placed.connection)
      resolver.watch(placed)
    }
  })
  const watch = new UserWatch(deps, mirrors)
  const revocations = new Revocations(deps)
  const directory = new Directory(deps)
  const freshness = new FreshnessReader(deps, directory)
  const orderPages = new OrderPages(deps.store)
  const accessAudit = new AccessAudit(deps)
  const app: AppDeps = {
    ...deps,
    lookup,
    accessAudit,
    sessions,
    directory,
    removals: new Removals(deps, orderGateway),
    freshness,
    mirrors,
    markets,
    watch,
    orderGateway,
    orderWriter,
    unconfirmed,
    resolver,
    orderPages
  }
  const parts: readonly Stoppable[] = [
    { name: 'audit of refused accesses', stop: () => accessAudit.stop() },
    { name: 'broker sessions', stop: async () => await sessions[Symbol.asyncDispose]() },
    { name: 'resolver', stop: () => resolver.stop() },
    { name: 'unconfirmed intents', stop: () => unconfirmed.stop() },
    { name: 'market data', stop: () => markets.stop() },
    { name: 'mirrors', stop: () => mirrors.stop() },
    { name: 'watched users', stop: () => watch.stop() },
    { name: 'revocations', stop: () => revocations.stop() },
    { name: 'directory', stop: async () => directory[Symbol.dispose]() }
  ]
  let stopping: Promise<void> | null = null
  const stop = () => (stopping ??= stopAll(parts))
  return { app, sessions, intake, records, revocations, parts, stop, [Symbol.asyncDispose]: stop }
}

async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop()
}
