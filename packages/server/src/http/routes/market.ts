import { readMarket } from '@trunkline/core/app/market/read-market'
import { type ErrorCode, ServiceError } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import { canonicalInterval, parseInterval } from '@trunkline/core/domain/market/interval'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { SYMBOLS_FOUND_MAX } from '@trunkline/core/ports/market'
import Type from 'typebox'
import {
  marketBars,
  marketChain,
  marketExpirations,
  marketQuote,
  marketSymbols,
  presentBar,
  presentContract,
  presentQuote
} from '../../wire/market-reads.ts'
import { type Endpoint, userEndpoint } from '../endpoint.ts'
import { connectionIdInPath, date, integer, type Param, plainText, required, time } from '../params.ts'

const params = { connection_id: connectionIdInPath }

const FAILURES: readonly ErrorCode[] = ['connection_not_found', 'entitlement_missing', 'market_data_unsupported', 'broker_unavailable']

const symbolParam = required({
  description: 'The symbol, written as in orders. Write the `/` of a crypto pair as `%2F`.',
  schema: Type.String({ minLength: 1, maxLength: 32 }),
  example: 'SPY',
  read: named(text => formatSymbol(parseSymbol(text)))
} satisfies Param<string>)

const SYMBOLS = { minimum: 1, maximum: SYMBOLS_FOUND_MAX, fallback: 20 }
const BARS = { minimum: 1, maximum: 5_000, fallback: 500 }

const intervalParam = required({
  description: 'A number and a unit: `m` up to `1440m`, `h`, `d`, `w`, `M` and `1y`. Case matters: `1m` is a minute, `1M` is a month.',
  schema: Type.String({ minLength: 2, maxLength: 5 }),
  example: '1h',
  read: named(text => {
    canonicalInterval(parseInterval(text))
    return text
  })
} satisfies Param<string>)

const query = {
  symbol: symbolParam,
  interval: intervalParam,
  start: required(time('Bars that start at or after this time.', '2026-11-20T14:30:00Z')),
  end: required(time('Bars that start before this time.', '2026-11-20T21:00:00Z')),
  limit: integer(BARS, 'Maximum number of bars on a page.')
}

const shared = { method: 'GET', scope: 'read', tag: 'Market data', failures: FAILURES, params } as const

export const MARKET: readonly Endpoint[] = [
  userEndpoint({
    ...shared,
    path: '/connections/:connection_id/market-data/symbols',
    operationId: 'searchSymbols',
    summary: 'Search a broker’s symbols',
    description:
      'Searches by the beginning of a symbol or by words of a name, as the broker does. An exact match comes first, then symbols that begin with the text. For options use `…/chain`. Available only where `market_data.symbol_search` in `GET /brokers` is true.',
    query: {
      search: required(plainText(64, 'The beginning of a symbol, or words of a name.', 'apple')),
      limit: integer(SYMBOLS, 'Maximum number of symbols.')
    },
    success: { status: 200, description: 'The matching symbols.', schema: marketSymbols },
    handle({ caller, path, query: { search, limit = SYMBOLS.fallback } }, { deps }) {
      return readMarket(deps, caller, path.connection_id, async market => {
        const found = await market.search(search)
        return { symbols: found.slice(0, limit).map(({ symbol, instrument, name, exchange }) => ({ symbol, instrument, name, exchange })) }
      })
    }
  }),
  userEndpoint({
    ...shared,
    path: '/connections/:connection_id/market-data/expirations',
    operationId: 'readExpirations',
    summary: 'Read the option expirations of an underlying',
    description: 'Read from the broker each time. `…/chain` reads the chain of one expiration; the market data stream follows it.',
    query: { symbol: symbolParam },
    success: { status: 200, description: 'The expiration dates.', schema: marketExpirations },
    handle({ caller, path, query: { symbol } }, { deps }) {
      return readMarket(deps, caller, path.connection_id, async market => {
        const expirations = [...(await market.expirations(symbol))]
        return { symbol, expirations, as_of: market.present() }
      })
    }
  }),
  userEndpoint({
    ...shared,
    path: '/connections/:connection_id/market-data/chain',
    operationId: 'readChain',
    summary: 'Read the options chain of an underlying for one expiration',
    description:
      'Returns all contracts or an error. The chain is read from the broker each time, within 15 seconds. Limits: 5,000 contracts, and two chains at a time for each connection. To follow a chain, subscribe on the market data stream.',
    query: { symbol: symbolParam, expiration: required(date('One of the dates that `…/expirations` lists.', '2028-01-21')) },
    success: { status: 200, description: 'The chain.', schema: marketChain },
    handle({ caller, path, query: { symbol, expiration } }, { deps }) {
      return readMarket(deps, caller, path.connection_id, async market => {
        const contracts = await market.chain(symbol, expiration)
        return { symbol, expiration, contracts: contracts.map(presentContract), as_of: market.present() }
      })
    }
  }),
  userEndpoint({
    ...shared,
    path: '/connections/:connection_id/market-data/quote',
    operationId: 'readQuote',
    summary: 'Read the last quote of a symbol',
    description:
      'The current quote, which is also the first that the market data stream sends to a new subscriber. To follow quotes, subscribe there: each read of a symbol that has no subscriber starts and ends a subscription at the broker.',
    query: { symbol: symbolParam },
    success: { status: 200, description: 'The quote.', schema: marketQuote },
    handle({ caller, path, query: { symbol } }, { deps }) {
      return readMarket(deps, caller, path.connection_id, async market =>
        presentQuote(symbol, await market.quote(symbol), market.present())
      )
    }
  }),
  userEndpoint({
    ...shared,
    path: '/connections/:connection_id/market-data/bars',
    operationId: 'readBars',
    summary: 'Read past bars',
    description:
      'The snapshot of the market data stream, in pages. A window of more than 50,000 bars, or one that needs more than 50,000 bars from the broker, is refused. For each connection, at most two requests that need more than 1,000 broker bars run at the same time; others wait.',
    query,
    success: { status: 200, description: 'A page of bars.', schema: marketBars },
    handle({ caller, path, query: { symbol, interval, start, end, limit = BARS.fallback } }, { deps }) {
      if (start >= end)
        throw new ServiceError('query_invalid', 'start must be before end.', {
          details: [{ path: 'start', message: 'must be before end' }]
        })
      return readMarket(deps, caller, path.connection_id, async market => {
        const { bars, next } = await market.firstBars({ symbol, interval, start, end }, limit)
        return {
          symbol,
          interval,
          bars: bars.map(presentBar),
          next_start: next === null ? null : timestampOfMs(next.startMs),
          as_of: market.present()
        }
      })
    }
  })
]

/** Reports what `parse` expects under the name of the parameter. */
function named(parse: (text: string) => string): Param<string>['read'] {
  return (text, name) => {
    try {
      return parse(text)
    } catch (error) {
      throw error instanceof Malformed ? new Malformed(name, error.expected, text) : error
    }
  }
}
