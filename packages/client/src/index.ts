/** A client of the service. `Trunkline` has everything; a resource over a transport of its own is a smaller bundle. */

export { type AnyErrorCode, type ClientErrorCode, TrunklineError } from './errors.ts'
export type { Answer } from './exchange.ts'
export type * from './generated/openapi.ts'
export type { Freshness, Meta, RateLimit } from './meta.ts'
export type { CancelAll } from './orders/cancel-all.ts'
export { type Modification, type Orders, type OrderTicket, orders } from './orders/index.ts'
export type { Item, Page, Pages } from './pages.ts'
export {
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
export type { CallOptions, Clock, Hooks, RequestNotice, TrunklineOptions, UserCredentials } from './settings.ts'
export { type Call, type Transport, transportOf } from './transport.ts'
export { Trunkline, type TrunklineUser } from './trunkline.ts'
