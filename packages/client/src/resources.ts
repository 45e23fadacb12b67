// What the service offers besides orders, by resource. A bundle has only the resources that it uses.
import { TrunklineError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import {
  type ChangeWebhookEndpointCall,
  type ClaimConnectionCall,
  CONNECTIONS,
  type CreateConnectionCall,
  type CreateUserCall,
  type CreateWebhookEndpointCall,
  type DeleteConnectionCall,
  type DeleteUserCall,
  type DeleteWebhookEndpointCall,
  type IssueMarketDataTokenCall,
  type ListAccountsCall,
  type ListBalancesCall,
  type ListBrokersCall,
  type ListConnectionsCall,
  type ListEventsCall,
  type ListPlatformConnectionsCall,
  type ListPositionsCall,
  type ListTransactionsCall,
  type ListUsersCall,
  type ListWebhookDeliveriesCall,
  type ListWebhookEndpointsCall,
  listAccounts,
  listBalances,
  listBrokers,
  listConnections,
  listEvents,
  listPlatformConnections,
  listPositions,
  listTransactions,
  MARKET_DATA,
  type ReadBarsCall,
  type ReadChainCall,
  type ReadExpirationsCall,
  type ReadQuoteCall,
  type ReadWebhookDeliveryCall,
  type ReadWebhookEndpointCall,
  type ReplayWebhooksCall,
  type RotateUserSecretCall,
  type RotateWebhookKeysCall,
  type SearchSymbolsCall,
  type TestWebhookEndpointCall,
  USERS,
  WEBHOOK_ENDPOINTS
} from './generated/openapi.ts'
import { type AfterLoss, type Calls, calling, doneIf, type Lists, listing, repeated, resourceOf, type Transport } from './transport.ts'

/** The platform's users. */
export interface Users {
  /**
   * Creates a user, and answers the secret, which the service shows only once.
   * @throws TrunklineError user_secret_lost: the user exists, perhaps made by this call, whose answer was lost with the secret in it.
   */
  readonly create: Calls<CreateUserCall>
  readonly list: Lists<ListUsersCall>
  /** Deletes a user with all connections. After a lost answer, a user who does not exist counts as deleted. */
  readonly delete: Calls<DeleteUserCall>
  /**
   * Issues a new secret, which ends the former one. Not repeated after a lost answer: if the first request were still under way, the
   * secret that it makes would end the answered one. Call it again then.
   */
  readonly rotateSecret: Calls<RotateUserSecretCall>
}

export function users(transport: Transport): Users {
  return resourceOf(transport, USERS, {
    create({ code, status, requestId }) {
      if (code !== 'user_exists') return undefined
      const message = 'The user exists, but the answer with the secret was lost: users.rotateSecret issues another.'
      throw new TrunklineError('user_secret_lost', message, { status, requestId })
    },
    delete: doneIf('user_not_found', 'user_id')
  })
}

/** A user's logins at brokers. */
export interface Connections {
  /** Makes a link at which the user logs in. After a lost answer it makes another; the first stays unused until it expires. */
  readonly create: Calls<CreateConnectionCall>
  /** The user's connections, newest first. */
  readonly list: Calls<ListConnectionsCall>
  /** Confirms that this user made the login. After a lost answer, a connection of this user that is claimed counts as claimed here. */
  readonly claim: Calls<ClaimConnectionCall>
  /** Deletes a connection. After a lost answer, one that does not exist counts as deleted. */
  readonly delete: Calls<DeleteConnectionCall>
  /** Issues a token for the market data stream, valid for a day. A newer one ends it for new sessions. */
  readonly marketDataToken: Calls<IssueMarketDataTokenCall>
}

export function connections(transport: Transport): Connections {
  return resourceOf(transport, CONNECTIONS, { claim: claimed, delete: doneIf('connection_not_found', 'connection_id') })
}

const claimed: AfterLoss<ClaimConnectionCall> = (error, exchange, { connection_id: asked }) =>
  error.code === 'connection_claimed' ? claimedBefore(exchange, asked.toLowerCase(), error) : undefined

async function claimedBefore(exchange: Exchange, connectionId: string, error: TrunklineError) {
  const { data, meta } = await repeated(exchange, listConnections, {})
  const found = data.find(({ connection_id: id }) => id === connectionId)
  if (!found) throw error
  return { data: found, meta }
}

/** A user's accounts at all brokers. */
export interface Accounts {
  readonly list: Calls<ListAccountsCall>
}

export function accounts(transport: Transport): Accounts {
  return { list: calling(transport, listAccounts) }
}

/** What the accounts hold in money, by account and currency. */
export interface Balances {
  readonly list: Calls<ListBalancesCall>
}

export function balances(transport: Transport): Balances {
  return { list: calling(transport, listBalances) }
}

/** What the accounts hold besides money. */
export interface Positions {
  readonly list: Calls<ListPositionsCall>
}

export function positions(transport: Transport): Positions {
  return { list: calling(transport, listPositions) }
}

/** What changed the accounts' cash and holdings. */
export interface Transactions {
  readonly list: Lists<ListTransactionsCall>
}

export function transactions(transport: Transport): Transactions {
  return { list: listing(transport, listTransactions) }
}

/** Single reads of a connection's market data. */
export interface MarketData {
  readonly symbols: Calls<SearchSymbolsCall>
  /** The dates for which there are options on a symbol. */
  readonly expirations: Calls<ReadExpirationsCall>
  /** The options of one expiration date, with their prices. */
  readonly chain: Calls<ReadChainCall>
  readonly quote: Calls<ReadQuoteCall>
  /** Past bars, ascending. */
  readonly bars: Lists<ReadBarsCall>
}

export function marketData(transport: Transport): MarketData {
  return resourceOf(transport, MARKET_DATA)
}

/** Endpoints that receive users' updates as webhooks, and what was sent to them. */
export interface WebhookEndpoints {
  /**
   * Creates an endpoint, and answers the secret, which the service shows only once. Not repeated after a lost answer: a second endpoint
   * would be sent everything again. List the endpoints then, and rotate the keys of the one that was made, or create it.
   */
  readonly create: Calls<CreateWebhookEndpointCall>
  /** Oldest first. */
  readonly list: Calls<ListWebhookEndpointsCall>
  readonly read: Calls<ReadWebhookEndpointCall>
  readonly change: Calls<ChangeWebhookEndpointCall>
  /** After a lost answer, an endpoint that does not exist counts as deleted. */
  readonly delete: Calls<DeleteWebhookEndpointCall>
  /** Issues new keys. Not repeated after a lost answer, which had the secret: call it again then. */
  readonly rotateKeys: Calls<RotateWebhookKeysCall>
  /** Makes one attempt with a test message. Not repeated after a lost answer. */
  readonly test: Calls<TestWebhookEndpointCall>
  /** Attempts, newest first. */
  readonly deliveries: Lists<ListWebhookDeliveriesCall>
  readonly delivery: Calls<ReadWebhookDeliveryCall>
  /** Sends updates again. Not repeated after a lost answer: they may be on their way. */
  readonly replay: Calls<ReplayWebhooksCall>
}

export function webhookEndpoints(transport: Transport): WebhookEndpoints {
  return resourceOf(transport, WEBHOOK_ENDPOINTS, { delete: doneIf('webhook_endpoint_not_found', 'endpoint_id') })
}

/** The brokers that users can connect. */
export function brokers(transport: Transport): Calls<ListBrokersCall> {
  return calling(transport, listBrokers)
}

/** The connections of all users, newest first. */
export function platformConnections(transport: Transport): Lists<ListPlatformConnectionsCall> {
  return listing(transport, listPlatformConnections)
}

/**
 * A user's updates after `after`, to the end of the log; without `after`, all that are stored.
 * @throws TrunklineError events_missing, from the iteration: updates after `after` are not stored any more.
 */
export function events(transport: Transport): Lists<ListEventsCall> {
  return listing(transport, listEvents, ({ after }, { oldest_seq: oldest }) => {
    if (after !== undefined && after < oldest - 1)
      throw new TrunklineError('events_missing', `The log begins at ${oldest}: read a snapshot.`)
  })
}
