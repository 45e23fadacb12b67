import type * as client from './index.js' with { 'resolution-mode': 'import' }
export type * from './index.js' with { 'resolution-mode': 'import' }
export declare const Trunkline: typeof client.Trunkline
export type Trunkline = client.Trunkline
export declare const TrunklineError: typeof client.TrunklineError
export type TrunklineError = client.TrunklineError
export declare const accounts: typeof client.accounts
export declare const balances: typeof client.balances
export declare const brokers: typeof client.brokers
export declare const connections: typeof client.connections
export declare const events: typeof client.events
export declare const marketData: typeof client.marketData
export declare const orders: typeof client.orders
export declare const platformConnections: typeof client.platformConnections
export declare const positions: typeof client.positions
export declare const transactions: typeof client.transactions
export declare const transportOf: typeof client.transportOf
export declare const users: typeof client.users
export declare const webhookEndpoints: typeof client.webhookEndpoints
