import { readMarket } from '@trunkline/core/app/market/read-market'
import { marketQuote, presentQuote } from '../../../wire/market-reads.ts'
import { userEndpoint } from '../../endpoint.ts'
import { FAILURES, params, symbolParam } from './parameters.ts'

export const getQuote = userEndpoint({
  method: 'GET',
  path: '/connections/:connection_id/market-data/quote',
  scope: 'read',
  operationId: 'readQuote',
  tag: 'Market data',
  summary: 'Read the last quote of a symbol',
  description:
    'The current quote, which is also the first that the market data stream sends to a new subscriber. To follow quotes, subscribe there: each read of a symbol that has no subscriber starts and ends a subscription at the broker.',
  failures: FAILURES,
  params,
  query: { symbol: symbolParam },
  success: { status: 200, description: 'The quote.', schema: marketQuote },
  handle({ caller, path, query: { symbol } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => presentQuote(symbol, await market.quote(symbol), market.present()))
  }
})
