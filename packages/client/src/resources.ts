// What the service offers besides orders, by resource. A bundle has only the resources that it uses.
import { TrunklineError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import {
  claimConnection,
  createConnection,
  createUser,
  deleteConnection,
  deleteUser,
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
  readBars,
  readChain,
  readExpirations,
  readQuote,
  rotateUserSecret,
  searchSymbols
} from './generated/openapi.ts'
import { calling, doneAlready, listing, repeated, type Transport } from './transport.ts'

/** The platform's users. */
export function users(transport: Transport) {
  return {
    /**
     * Creates a user, and answers the secret, which the service shows only once.
     * @throws TrunklineError user_secret_lost: the user exists, perhaps made by this call, whose answer was lost with the secret in it.
     */
    create: calling(transport, createUser, () => ({ code, status, requestId }) => {
      if (code !== 'user_exists') return undefined
      const message = 'The user exists, but the answer with the secret was lost: users.rotateSecret issues another.'
      throw new TrunklineError('user_secret_lost', message, { status, requestId })
    }),
    list: listing(transport, listUsers),
    /** Deletes a user with all connections. After a lost answer, a user who does not exist counts as deleted. */
    delete: calling(
      transport,
      deleteUser,
      ({ user_id }) =>
        error =>
          error.code === 'user_not_found' ? doneAlready({ user_id }, error) : undefined
    ),
    /**
     * Issues a new secret, which ends the former one. Not repeated after a lost answer: if the first request were still under way, the
     * secret that it makes would end the answered one. Call it again then.
     */
    rotateSecret: calling(transport, rotateUserSecret, undefined, false)
  }
}

/** A user's logins at brokers. */
export function connections(transport: Transport) {
  return {
    /** Makes a link at which the user logs in. After a lost answer it makes another; the first stays unused until it expires. */
    create: calling(transport, createConnection),
    list: calling(transport, listConnections),
    /** Confirms that this user made the login. After a lost answer, a connection of this user that is claimed counts as claimed here. */
    claim: calling(
      transport,
      claimConnection,
      ({ connection_id }) =>
        (error, exchange) =>
          error.code === 'connection_claimed' ? claimed(exchange, connection_id, error) : undefined
    ),
    /** After a lost answer, a connection that does not exist counts as deleted. */
    delete: calling(
      transport,
      deleteConnection,
      ({ connection_id }) =>
        error =>
          error.code === 'connection_not_found' ? doneAlready({ connection_id }, error) : undefined
    ),
    /** Issues a token for the market data stream, valid for a day. A newer one ends it for new sessions. */
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
export function accounts(transport: Transport) {
  return { list: calling(transport, listAccounts) }
}

/** What the accounts hold in money. */
export function balances(transport: Transport) {
  return { list: calling(transport, listBalances) }
}

/** What the accounts hold besides money. */
export function positions(transport: Transport) {
  return { list: calling(transport, listPositions) }
}

/** What changed the accounts. */
export function transactions(transport: Transport) {
  return { list: listing(transport, listTransactions) }
}

/** Single reads of a connection's market data. */
export function marketData(transport: Transport) {
  return {
    symbols: calling(transport, searchSymbols),
    expirations: calling(transport, readExpirations),
    chain: calling(transport, readChain),
    quote: calling(transport, readQuote),
    /** Past bars, ascending. */
    bars: listing(transport, readBars)
  }
}

/** The brokers that users can connect. */
export function brokers(transport: Transport) {
  return calling(transport, listBrokers)
}

/** The connections of all users, newest first. */
export function platformConnections(transport: Transport) {
  return listing(transport, listPlatformConnections)
}

/**
 * A user's updates after `after`, to the end of the log; without `after`, all that are stored.
 * @throws TrunklineError events_missing, from the iteration: updates after `after` are not stored any more.
 */
export function events(transport: Transport) {
  return listing(transport, listEvents, ({ after }, { oldest_seq: oldest }) => {
    if (after !== undefined && after < oldest - 1)
      throw new TrunklineError('events_missing', `The log begins at ${oldest}: read a snapshot.`)
  })
}
