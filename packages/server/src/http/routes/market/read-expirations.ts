import { readMarket } from '@trunkline/core/app/market/read-market'
import { marketExpirations } from '../../../wire/market-reads.ts'
import { userEndpoint } from '../../endpoint.ts'
import { FAILURES, params, symbolParam } from './parameters.ts'

export const getExpirations = userEndpoint({
  method: 'GET',
  path: '/connections/:connection_id/market-data/expirations',
  scope: 'read',
  operationId: 'readExpirations',
  tag: 'Market data',
  summary: 'Read when options of an underlying expire',
  description: 'Asked of the broker each time. `…/chain` reads one of these days; on the market data stream it can be followed.',
  failures: FAILURES,
  params,
  query: { symbol: symbolParam },
  success: { status: 200, description: 'The days.', schema: marketExpirations },
  handle({ caller, path, query: { symbol } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => {
      const expirations = [...(await market.expirations(symbol))]
      return { symbol, expirations, as_of: market.present() }
    })
  }
})
