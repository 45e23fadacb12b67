// What the service offers besides orders, by resource. A bundle has only the resources that it uses.
import { TrunklineError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import {
  changeWebhookEndpoint,
  claimConnection,
  createConnection,
  createUser,
  createWebhookEndpoint,
  deleteConnection,
  deleteUser,
  deleteWebhookEndpoint,
  issueMarketDataToken,
  listAccounts,
  listBalances,
  listBrokers,
  listConnections,
  listEvents,
  listPlatformConnections,
  listPositions,
  listTransactions,
  listUsers,
  listWebhookDeliveries,
  listWebhookEndpoints,
  readBars,
  readChain,
  readExpirations,
  readQuote,
  readWebhookDelivery,
  readWebhookEndpoint,
  replayWebhooks,
  rotateUserSecret,
  rotateWebhookKeys,
  searchSymbols,
  testWebhookEndpoint
} from './generated/openapi.ts'
import { type Calls, calling, callingOnce, doneIf, type Lists, listing, repeated, type Transport } from './transport.ts'

/** The platform's users. */
export interface Users {
  /**
   * Creates a user, and answers the secret, which the service shows only once.
   * @throws TrunklineError user_secret_lost: the user exists, perhaps made by this call, whose answer was lost with the secret in it.
   */
  readonly create: Calls<typeof createUser>
  readonly list: Lists<typeof listUsers>
  /** Deletes a user with all connections. After a lost answer, a user who does not exist counts as deleted. */
  readonly delete: Calls<typeof deleteUser>
  /**
   * Issues a new secret, which ends the former one. Not repeated after a lost answer: if the first request were still under way, the
   * secret that it makes would end the answered one. Call it again then.
   */
  readonly rotateSecret: Calls<typeof rotateUserSecret>
}

export function users(transport: Transport): Users {
  return {
    create: calling(transport, createUser, () => ({ code, status, requestId }) => {
      if (code !== 'user_exists') return undefined
      const message = 'The user exists, but the answer with the secret was lost: users.rotateSecret issues another.'
      throw new TrunklineError('user_secret_lost', message, { status, requestId })
    }),
    list: listing(transport, listUsers),
    delete: calling(transport, deleteUser, ({ user_id }) => doneIf('user_not_found', { user_id })),
    rotateSecret: callingOnce(transport, rotateUserSecret)
  }
}

/** A user's logins at brokers. */
export interface Connections {
  /** Makes a link at which the user logs in. After a lost answer it makes another; the first stays unused until it expires. */
  readonly create: Calls<typeof createConnection>
  /** The user's connections, newest first. */
  readonly list: Calls<typeof listConnections>
  /** Confirms that this user made the login. After a lost answer, a connection of this user that is claimed counts as claimed here. */
  readonly claim: Calls<typeof claimConnection>
  /** Deletes a connection. After a lost answer, one that does not exist counts as deleted. */
  readonly delete: Calls<typeof deleteConnection>
  /** Issues a token for the market data stream, valid for a day. A newer one ends it for new sessions. */
  readonly marketDataToken: Calls<typeof issueMarketDataToken>
}

export function connections(transport: Transport): Connections {
  return {
    create: calling(transport, createConnection),
    list: calling(transport, listConnections),
    claim: calling(
      transport,
      claimConnection,
      ({ connection_id }) =>
        (error, exchange) =>
          error.code === 'connection_claimed' ? claimed(exchange, connection_id, error) : undefined
    ),
    delete: calling(transport, deleteConnection, ({ connection_id }) => doneIf('connection_not_found', { connection_id })),
    marketDataToken: calling(transport, issueMarketDataToken)
  }
}

async function claimed(exchange: Exchange, connectionId: string, error: unknown) {
  const { data, meta } = await repeated(exchange, listConnections, {})
  const found = data.find(({ connection_id: id }) => id === connectionId.toLowerCase())
  if (!found) throw error
  return { data: found, meta }
}

/** A user's accounts at all brokers. */
export interface Accounts {
  readonly list: Calls<typeof listAccounts>
}

export function accounts(transport: Transport): Accounts {
  return { list: calling(transport, listAccounts) }
}

/** What the accounts hold in money, by account and currency. */
export interface Balances {
  readonly list: Calls<typeof listBalances>
}

export function balances(transport: Transport): Balances {
  return { list: calling(transport, listBalances) }
}

/** What the accounts hold besides money. */
export interface Positions {
  readonly list: Calls<typeof listPositions>
}

export function positions(transport: Transport): Positions {
  return { list: calling(transport, listPositions) }
}

/** What changed the accounts' cash and holdings. */
export interface Transactions {
  readonly list: Lists<typeof listTransactions>
}

export function transactions(transport: Transport): Transactions {
  return { list: listing(transport, listTransactions) }
}

/** Single reads of a connection's market data. */
export interface MarketData {
  readonly symbols: Calls<typeof searchSymbols>
  /** The dates for which there are options on a symbol. */
  readonly expirations: Calls<typeof readExpirations>
  /** The options of one expiration date, with their prices. */
  readonly chain: Calls<typeof readChain>
  readonly quote: Calls<typeof readQuote>
  /** Past bars, ascending. */
  readonly bars: Lists<typeof readBars>
}

export function marketData(transport: Transport): MarketData {
  return {
    symbols: calling(transport, searchSymbols),
    expirations: calling(transport, readExpirations),
    chain: calling(transport, readChain),
    quote: calling(transport, readQuote),
    bars: listing(transport, readBars)
  }
}

/** Endpoints that receive users' updates as webhooks, and what was sent to them. */
export interface WebhookEndpoints {
  /**
   * Creates an endpoint, and answers the secret, which the service shows only once. Not repeated after a lost answer: a second endpoint
   * would be sent everything again. List the endpoints then, and rotate the keys of the one that was made, or create it.
   */
  readonly create: Calls<typeof createWebhookEndpoint>
  /** Oldest first. */
  readonly list: Calls<typeof listWebhookEndpoints>
  readonly read: Calls<typeof readWebhookEndpoint>
  readonly change: Calls<typeof changeWebhookEndpoint>
  /** After a lost answer, an endpoint that does not exist counts as deleted. */
  readonly delete: Calls<typeof deleteWebhookEndpoint>
  /** Issues new keys. Not repeated after a lost answer, which had the secret: call it again then. */
  readonly rotateKeys: Calls<typeof rotateWebhookKeys>
  /** Makes one attempt with a test message. Not repeated after a lost answer. */
  readonly test: Calls<typeof testWebhookEndpoint>
  /** Attempts, newest first. */
  readonly deliveries: Lists<typeof listWebhookDeliveries>
  readonly delivery: Calls<typeof readWebhookDelivery>
  /** Sends updates again. Not repeated after a lost answer: they may be on their way. */
  readonly replay: Calls<typeof replayWebhooks>
}

export function webhookEndpoints(transport: Transport): WebhookEndpoints {
  return {
    create: callingOnce(transport, createWebhookEndpoint),
    list: calling(transport, listWebhookEndpoints),
    read: calling(transport, readWebhookEndpoint),
    change: calling(transport, changeWebhookEndpoint),
    delete: calling(transport, deleteWebhookEndpoint, ({ endpoint_id }) => doneIf('webhook_endpoint_not_found', { endpoint_id })),
    rotateKeys: callingOnce(transport, rotateWebhookKeys),
    test: callingOnce(transport, testWebhookEndpoint),
    deliveries: listing(transport, listWebhookDeliveries),
    delivery: calling(transport, readWebhookDelivery),
    replay: callingOnce(transport, replayWebhooks)
  }
}

/** The brokers that users can connect. */
export function brokers(transport: Transport): Calls<typeof listBrokers> {
  return calling(transport, listBrokers)
}

/** The connections of all users, newest first. */
export function platformConnections(transport: Transport): Lists<typeof listPlatformConnections> {
  return listing(transport, listPlatformConnections)
}

/**
 * A user's updates after `after`, to the end of the log; without `after`, all that are stored.
 * @throws TrunklineError events_missing, from the iteration: updates after `after` are not stored any more.
 */
export function events(transport: Transport): Lists<typeof listEvents> {
  return listing(transport, listEvents, ({ after }, { oldest_seq: oldest }) => {
    if (after !== undefined && after < oldest - 1)
      throw new TrunklineError('events_missing', `The log begins at ${oldest}: read a snapshot.`)
  })
}
