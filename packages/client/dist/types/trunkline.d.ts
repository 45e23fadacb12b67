import { type Orders } from './orders/index.js';
import { type Accounts, type Balances, brokers, type Connections, events, type MarketData, type Positions, platformConnections, type Transactions, type Users, type WebhookEndpoints } from './resources.js';
import type { TrunklineOptions, UserCredentials } from './settings.js';
/** The service, with the credentials of a platform. */
export declare class Trunkline {
    #private;
    readonly users: Users;
    /** The brokers that users can connect. */
    readonly brokers: ReturnType<typeof brokers>;
    /**
     * A user's updates after `after`, to the end of the log; without `after`, all that are stored.
     * @throws TrunklineError events_missing, from the iteration: updates after `after` are not stored any more.
     */
    readonly events: ReturnType<typeof events>;
    /** The connections of all users, newest first. */
    readonly platformConnections: ReturnType<typeof platformConnections>;
    readonly webhookEndpoints: WebhookEndpoints;
    /** @throws TrunklineError setting_invalid */
    constructor(options: TrunklineOptions);
    /** The service for one user. @throws TrunklineError setting_invalid */
    user(credentials: UserCredentials): TrunklineUser;
}
/** What the service does for one user. */
export interface TrunklineUser {
    readonly connections: Connections;
    readonly accounts: Accounts;
    readonly balances: Balances;
    readonly positions: Positions;
    readonly transactions: Transactions;
    readonly orders: Orders;
    readonly marketData: MarketData;
}
