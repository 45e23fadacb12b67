import { readMarket } from '@trunkline/core/app/market/read-market'
import { SYMBOLS_FOUND_MAX } from '@trunkline/core/ports/market'
import { marketSymbols } from '../../../wire/market-reads.ts'
import { userEndpoint } from '../../endpoint.ts'
import { integer, plainText, required } from '../../params.ts'
import { FAILURES, params } from './parameters.ts'

const LIMIT = { minimum: 1, maximum: SYMBOLS_FOUND_MAX, fallback: 20 }

export const getSymbols = userEndpoint({
  method: 'GET',
  path: '/connections/:connection_id/market-data/symbols',
  scope: 'read',
  operationId: 'searchSymbols',
  tag: 'Market data',
  summary: 'Search a broker’s symbols',
  description:
    'Searches by the beginning of a symbol or by words of a name, as the broker does. An exact match comes first, then symbols that begin with the text. For options use `…/chain`. Available only where `market_data.symbol_search` in `GET /brokers` is true.',
  failures: FAILURES,
  params,
  query: {
    search: required(plainText(64, 'The beginning of a symbol, or words of a name.', 'apple')),
    limit: integer(LIMIT, 'Maximum number of symbols.')
  },
  success: { status: 200, description: 'The matching symbols.', schema: marketSymbols },
  handle({ caller, path, query: { search, limit = LIMIT.fallback } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => {
      const found = await market.search(search)
      return { symbols: found.slice(0, limit).map(({ symbol, instrument, name, exchange }) => ({ symbol, instrument, name, exchange })) }
    })
  }
})
