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
  summary: 'Read the option expirations of an underlying',
  description: 'Read from the broker each time. `…/chain` reads the chain of one expiration; the market data stream follows it.',
  failures: FAILURES,
  params,
  query: { symbol: symbolParam },
  success: { status: 200, description: 'The expiration dates.', schema: marketExpirations },
  handle({ caller, path, query: { symbol } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => {
      const expirations = [...(await market.expirations(symbol))]
      return { symbol, expirations, as_of: market.present() }
    })
  }
})
