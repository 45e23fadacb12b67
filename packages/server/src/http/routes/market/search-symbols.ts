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
    'By the beginning of a symbol, or by words of a name, as the broker searches: the symbol itself first, then those that begin so. Options come from `…/chain`. Only where `market_data.symbol_search` of `GET /brokers` is true.',
  failures: FAILURES,
  params,
  query: {
    search: required(plainText(64, 'What to look for.', 'apple')),
    limit: integer(LIMIT, 'Symbols in the answer.')
  },
  success: { status: 200, description: 'What was found.', schema: marketSymbols },
  handle({ caller, path, query: { search, limit = LIMIT.fallback } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => {
      const found = await market.search(search)
      return { symbols: found.slice(0, limit).map(({ symbol, instrument, name, exchange }) => ({ symbol, instrument, name, exchange })) }
    })
  }
})
