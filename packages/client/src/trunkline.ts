import { type Orders, orders } from './orders/index.ts'
import {
  type Accounts,
  accounts,
  type Balances,
  balances,
  brokers,
  type Connections,
  connections,
  events,
  type MarketData,
  marketData,
  type Positions,
  platformConnections,
  positions,
  type Transactions,
  transactions,
  type Users,
  users,
  type WebhookEndpoints,
  webhookEndpoints
} from './resources.ts'
import type { TrunklineOptions, UserCredentials } from './settings.ts'
import { type Transport, transportOf } from './transport.ts'

/** The service, with the credentials of a platform. */
export class Trunkline {
  readonly #transport: Transport
  declare readonly users: Users
  /** The brokers that users can connect. */
  declare readonly brokers: ReturnType<typeof brokers>
  /**
   * A user's updates after `after`, to the end of the log; without `after`, all that are stored.
   * @throws TrunklineError events_missing, from the iteration: updates after `after` are not stored any more.
   */
  declare readonly events: ReturnType<typeof events>
  /** The connections of all users, newest first. */
  declare readonly platformConnections: ReturnType<typeof platformConnections>
  declare readonly webhookEndpoints: WebhookEndpoints

  /** @throws TrunklineError setting_invalid */
  constructor(options: TrunklineOptions) {
    const transport = transportOf(options)
    this.#transport = transport
    this.users = users(transport)
    this.brokers = brokers(transport)
    this.events = events(transport)
    this.platformConnections = platformConnections(transport)
    this.webhookEndpoints = webhookEndpoints(transport)
  }

  /** The service for one user. @throws TrunklineError setting_invalid */
  user(credentials: UserCredentials): TrunklineUser {
    return userOf(this.#transport.asUser(credentials))
  }
}

/** What the service does for one user. */
export interface TrunklineUser {
  readonly connections: Connections
  readonly accounts: Accounts
  readonly balances: Balances
  readonly positions: Positions
  readonly transactions: Transactions
  readonly orders: Orders
  readonly marketData: MarketData
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
