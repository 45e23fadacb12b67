// The application layer put together as the service does it, over whatever a test gives it.
import type { CredentialLookup } from '@trunkline/core/app/authenticate'
import { BrokerSessions } from '@trunkline/core/app/connections/broker-sessions'
import { Directory } from '@trunkline/core/app/connections/directory'
import { Revocations } from '@trunkline/core/app/connections/revocations'
import type { AppDeps, Deps } from '@trunkline/core/app/deps'
import { AccountRecords } from '@trunkline/core/app/mirror/account-records'
import { Mirrors } from '@trunkline/core/app/mirror/mirrors'
import { OrderIntake } from '@trunkline/core/app/mirror/order-intake'
import { OrderDesk } from '@trunkline/core/app/orders/order-desk'
import { OrderGateway } from '@trunkline/core/app/orders/order-gateway'
import { OrderPages } from '@trunkline/core/app/orders/order-pages'
import { Resolver } from '@trunkline/core/app/orders/resolver'

/** What use cases are given, and the parts that tests look into. Not started: `app.mirrors.start()` takes up what was left open. */
export interface Application extends AsyncDisposable {
  readonly app: AppDeps
  readonly sessions: BrokerSessions
  readonly intake: OrderIntake
  readonly records: AccountRecords
  readonly revocations: Revocations
  /** Stops every part, in the order in which the service does. Repeatable. */
  stop(): Promise<void>
}

export function application(deps: Deps): Application {
  const sessions = new BrokerSessions(deps)
  const desk = new OrderDesk(deps)
  const orderGateway = new OrderGateway(deps, desk, sessions)
  const resolver = new Resolver(deps, { desk, gateway: orderGateway, sessions })
  orderGateway.onUnresolved(placed => resolver.watch(placed))
  const records = new AccountRecords(deps)
  const intake = new OrderIntake(deps, desk, orderGateway)
  const mirrors = new Mirrors(deps, { sessions, intake, records, desk, gateway: orderGateway, resolver })
  const revocations = new Revocations(deps)
  const directory = new Directory(deps)
  const app: AppDeps = {
    ...deps,
    lookup: storedCredentials(deps),
    directory,
    mirrors,
    orderGateway,
    desk,
    resolver,
    orderPages: new OrderPages(deps.store)
  }
  let stopping: Promise<void> | null = null
  const stop = async () => {
    directory[Symbol.dispose]()
    await revocations.stop()
    await mirrors.stop()
    await resolver.stop()
    await sessions[Symbol.asyncDispose]()
  }
  const stopOnce = () => (stopping ??= stop())
  return { app, sessions, intake, records, revocations, stop: stopOnce, [Symbol.asyncDispose]: stopOnce }
}

function storedCredentials({ store }: Pick<Deps, 'store'>): CredentialLookup {
  return {
    platform: clientId => store.platforms.findByClientId(clientId),
    user: (platformId, userId) => store.users.find(platformId, userId)
  }
}
