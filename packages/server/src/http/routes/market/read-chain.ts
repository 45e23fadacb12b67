import { readMarket } from '@trunkline/core/app/market/read-market'
import { marketChain, presentContract } from '../../../wire/market-reads.ts'
import { userEndpoint } from '../../endpoint.ts'
import { date, required } from '../../params.ts'
import { FAILURES, params, symbolParam } from './parameters.ts'

export const getChain = userEndpoint({
  method: 'GET',
  path: '/connections/:connection_id/market-data/chain',
  scope: 'read',
  operationId: 'readChain',
  tag: 'Market data',
  summary: 'Read the options chain of an underlying for one expiration',
  description:
    'Returns all contracts or an error. The chain is read from the broker each time, within 15 seconds. Limits: 5,000 contracts, and two chains at a time for each connection. To follow a chain, subscribe on the market data stream.',
  failures: FAILURES,
  params,
  query: { symbol: symbolParam, expiration: required(date('One of the dates that `…/expirations` lists.')) },
  success: { status: 200, description: 'The chain.', schema: marketChain },
  handle({ caller, path, query: { symbol, expiration } }, { deps }) {
    return readMarket(deps, caller, path.connection_id, async market => {
      const contracts = await market.chain(symbol, expiration)
      return { symbol, expiration, contracts: contracts.map(presentContract), as_of: market.present() }
    })
  }
})
