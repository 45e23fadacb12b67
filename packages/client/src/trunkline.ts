import { orders } from './orders/index.ts'
import {
  accounts,
  balances,
  brokers,
  connections,
  events,
  marketData,
  platformConnections,
  positions,
  transactions,
  users
} from './resources.ts'
import type { TrunklineOptions, UserCredentials } from './settings.ts'
import { type Transport, transportOf } from './transport.ts'

/** The service, with the credentials of a platform. */
export class Trunkline {
  readonly #transport: Transport
  readonly users: ReturnType<typeof users>
  readonly brokers: ReturnType<typeof brokers>
  readonly events: ReturnType<typeof events>
  readonly platformConnections: ReturnType<typeof platformConnections>

  /** @throws TrunklineError setting_invalid */
  constructor(options: TrunklineOptions) {
    const transport = transportOf(options)
    this.#transport = transport
    this.users = users(transport)
    this.brokers = brokers(transport)
    this.events = events(transport)
    this.platformConnections = platformConnections(transport)
  }

  /** The service for one user. @throws TrunklineError setting_invalid */
  user(credentials: UserCredentials): TrunklineUser {
    return userOf(this.#transport.asUser(credentials))
  }
}

/** What the service does for one user. */
export interface TrunklineUser {
  readonly connections: ReturnType<typeof connections>
  readonly accounts: ReturnType<typeof accounts>
  readonly balances: ReturnType<typeof balances>
  readonly positions: ReturnType<typeof positions>
  readonly transactions: ReturnType<typeof transactions>
  readonly orders: ReturnType<typeof orders>
  readonly marketData: ReturnType<typeof marketData>
}

function userOf(transport: Transport): TrunklineUser {
  return {
    connections: connections(transport),
    accounts: accounts(transport),
    balances: balances(transport),
    positions: positions(transport),
    transactions: transactions(transport),
    orders: orders(transport),
    marketData: marketData(transport)
  }
}
