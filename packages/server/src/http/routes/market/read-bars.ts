import { readMarket } from '@trunkline/core/app/market/read-market'
import { ServiceError } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import { canonicalInterval, parseInterval } from '@trunkline/core/domain/market/interval'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import Type from 'typebox'
import { marketBars, presentBar } from '../../../wire/market-reads.ts'
import { userEndpoint } from '../../endpoint.ts'
import { integer, type Param, required, time } from '../../params.ts'
import { FAILURES, params, symbolParam } from './parameters.ts'

const LIMIT = { minimum: 1, maximum: 5_000, fallback: 500 }

const intervalParam = required({
  description: 'A number and a unit: `m` up to `1440m`, `h`, `d`, `w`, `M` and `1y`. Case matters: `1m` is a minute, `1M` is a month.',
  schema: Type.String({ minLength: 2, maxLength: 5 }),
  example: '1h',
  read(text, name) {
    try {
      canonicalInterval(parseInterval(text))
      return text
    } catch (error) {
      throw error instanceof Malformed ? new Malformed(name, error.expected, text) : error
    }
  }
} satisfies Param<string>)

const query = {
  symbol: symbolParam,
  interval: intervalParam,
  start: required(time('Bars that start at or after this time.')),
  end: required(time('Bars that start before this time.')),
  limit: integer(LIMIT, 'Maximum number of bars on a page.')
}

export const getBars = userEndpoint({
  method: 'GET',
  path: '/connections/:connection_id/market-data/bars',
  scope: 'read',
  operationId: 'readBars',
  tag: 'Market data',
  summary: 'Read past bars',
  description:
    'The snapshot of the market data stream, in pages. A window of more than 50,000 bars, or one that needs more than 50,000 bars from the broker, is refused. For each connection, at most two requests that need more than 1,000 broker bars run at the same time; others wait.',
  failures: FAILURES,
  params,
  query,
  success: { status: 200, description: 'A page of bars.', schema: marketBars },
  handle({ caller, path, query: { symbol, interval, start, end, limit = LIMIT.fallback } }, { deps }) {
    if (start >= end)
      throw new ServiceError('query_invalid', 'start must be before end.', { details: [{ path: 'start', message: 'must be before end' }] })
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
