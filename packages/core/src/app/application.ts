import { AccessAudit } from './access-audit.ts'
import { FreshnessReader } from './accounts/freshness-reader.ts'
import type { CredentialLookup } from './authenticate.ts'
import { BrokerSessions } from './broker-access/broker-sessions.ts'
import { Removals } from './connections/removals.ts'
import { Revocations } from './connections/revocations.ts'
import type { Deps } from './deps.ts'
import { Directory } from './directory.ts'
import { InFlightCommands } from './execution/in-flight-commands.ts'
import { OrderGateway } from './execution/order-gateway.ts'
import { OrderReports } from './execution/order-reports.ts'
import { OrderWriter } from './execution/order-writer.ts'
import { Reconciliation } from './execution/reconciliation.ts'
import { ReplacementChains } from './execution/replacement-chains.ts'
import { TakenRequests } from './execution/taken-requests.ts'
import { Markets } from './market/markets.ts'
import { AccountRecords } from './mirror/account-records.ts'
import { Mirrors } from './mirror/mirrors.ts'
import { OrderIntake } from './mirror/order-intake.ts'
import { OrderSnapshots } from './mirror/order-snapshots.ts'
import { UntaggedOrders } from './mirror/untagged-orders.ts'
import { UserWatch } from './mirror/user-watch.ts'
import { OrderPages } from './orders/list-orders.ts'
import { OwnedWork } from './ownership/owned-work.ts'
import { Resolver } from './reconciliation/resolver.ts'
import { UnconfirmedIntents } from './reconciliation/unconfirmed-intents.ts'

/** What use cases take their collaborators from: the ports, and the long-lived parts of the application. */
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
  readonly orderReports: OrderReports
  readonly commands: InFlightCommands
  readonly reconciliation: Reconciliation
  readonly orderWriter: OrderWriter
  readonly unconfirmed: UnconfirmedIntents
  readonly orderPages: OrderPages
  readonly resolver: Resolver
  readonly ownedWork: OwnedWork
}

/** A part that must be stopped, and its name in the log. */
export interface Stoppable {
  readonly name: string
  stop(): Promise<void>
}

/**
 * The dependencies of the use cases, and the parts behind them. Nothing is started: call `app.ownedWork.start()`, which resumes
 * open orders, and `revocations.start()`.
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
  const chains = new ReplacementChains(deps, orderWriter)
  const orderReports = new OrderReports(deps, orderWriter, chains)
  const commands = new InFlightCommands()
  const taken = new TakenRequests(deps.clock, orderWriter)
  const reconciliation = new Reconciliation(commands)
  const shared = { sessions, orderWriter, reports: orderReports, chains, commands, taken, reconciliation }
  const orderGateway = new OrderGateway(deps, shared)
  const records = new AccountRecords(deps)
  const untagged = new UntaggedOrders(deps, shared)
  const intake = new OrderIntake(deps, { ...shared, untagged })
  const snapshots = new OrderSnapshots(deps, { ...shared, intake, untagged })
  const resolver = new Resolver(deps, { ...shared, gateway: orderGateway, snapshots })
  reconciliation.run(resolver)
  const markets = new Markets(deps, sessions)
  const mirrors = new Mirrors(deps, { ...shared, intake, records, snapshots })
  const unconfirmed = new UnconfirmedIntents(deps, { ...shared, mirrors })
  const watch = new UserWatch(deps, mirrors)
  const revocations = new Revocations(deps)
  const directory = new Directory(deps)
  const freshness = new FreshnessReader(deps, directory)
  const ownedWork = new OwnedWork(deps, { commands, orderWriter, records, mirrors, markets, resolver, sessions })
  const orderPages = new OrderPages(deps.store)
  const accessAudit = new AccessAudit(deps)
  const app: AppDeps = {
    ...deps,
    lookup,
    accessAudit,
    sessions,
    directory,
    removals: new Removals(deps, commands),
    freshness,
    mirrors,
    markets,
    watch,
    orderGateway,
    orderReports,
    commands,
    reconciliation,
    orderWriter,
    unconfirmed,
    resolver,
    orderPages,
    ownedWork
  }
  const parts: readonly Stoppable[] = [
    { name: 'audit of refused accesses', stop: () => accessAudit.stop() },
    { name: 'broker sessions', stop: async () => await sessions[Symbol.asyncDispose]() },
    { name: 'resolver', stop: () => resolver.stop() },
    { name: 'unconfirmed intents', stop: () => unconfirmed.stop() },
    { name: 'market data', stop: () => markets.stop() },
    { name: 'mirrors', stop: () => mirrors.stop() },
    { name: 'owned work', stop: () => ownedWork.stop() },
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
