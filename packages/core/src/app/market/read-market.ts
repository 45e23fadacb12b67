import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import type { UserCaller } from '../caller.ts'
import { marketConnection } from '../connections/market-connection.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import type { ConnectionMarket } from './connection-market.ts'
import type { Markets } from './markets.ts'
import { MarketRefusal } from './refusal.ts'

const RETRY_SECONDS = 5

/** One read of market data for a caller's connection, by the rules of the stream. @throws ServiceError */
export async function readMarket<T>(
  deps: Pick<Deps, 'brokers'> & { readonly directory: Directory; readonly markets: Markets },
  caller: UserCaller,
  connectionId: ConnectionId,
  read: (market: ConnectionMarket) => Promise<T>
): Promise<T> {
  const connection = await marketConnection(deps, caller, connectionId)
  try {
    const market = deps.markets.join(connection)
    try {
      return await read(market)
    } finally {
      deps.markets.leave(connection, market)
    }
  } catch (cause) {
    throw cause instanceof MarketRefusal ? refusalOf(cause) : cause
  }
}

function refusalOf(refusal: MarketRefusal): ServiceError {
  const { code, message } = refusal
  switch (code) {
    case 'invalid_request':
      return new ServiceError('query_invalid', message, { cause: refusal })
    case 'connection_broken':
      return new ServiceError('entitlement_missing', message, { cause: refusal })
    case 'broker_unavailable':
      return new ServiceError('broker_unavailable', message, { cause: refusal, retryAfterSeconds: RETRY_SECONDS })
    default:
      return new ServiceError('market_data_unsupported', message, { cause: refusal })
  }
}
