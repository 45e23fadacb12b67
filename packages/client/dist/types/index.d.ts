/** A client of the service. `Trunkline` has everything; a resource over a transport of its own is a smaller bundle. */
export { type AnyErrorCode, type ClientErrorCode, TrunklineError } from './errors.js';
export type { Answer } from './exchange.js';
export type * from './generated/openapi.js';
export type { Freshness, Meta, RateLimit } from './meta.js';
export type { CancelAll } from './orders/cancel-all.js';
export { type Modification, type Orders, type OrderTicket, orders } from './orders/index.js';
export type { Item, Page, Pages } from './pages.js';
export { type Accounts, accounts, type Balances, balances, brokers, type Connections, connections, events, type MarketData, marketData, type Positions, platformConnections, positions, type Transactions, transactions, type Users, users, type WebhookEndpoints, webhookEndpoints } from './resources.js';
export type { CallOptions, Clock, Hooks, RequestNotice, TrunklineOptions, UserCredentials } from './settings.js';
export { type Call, type Transport, transportOf } from './transport.js';
export { Trunkline, type TrunklineUser } from './trunkline.js';
