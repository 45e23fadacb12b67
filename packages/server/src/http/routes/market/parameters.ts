// What the market data endpoints share.
import type { ErrorCode } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import Type from 'typebox'
import { connectionIdInPath, type Param, required } from '../../params.ts'

export const params = { connection_id: connectionIdInPath }

export const FAILURES: readonly ErrorCode[] = [
  'connection_not_found',
  'entitlement_missing',
  'market_data_unsupported',
  'broker_unavailable'
]

export const symbolParam = required({
  description: 'The symbol, written as in orders. Write the `/` of a crypto pair as `%2F`.',
  schema: Type.String({ minLength: 1, maxLength: 32 }),
  example: 'SPY',
  read(text, name) {
    try {
      return formatSymbol(parseSymbol(text))
    } catch (error) {
      throw error instanceof Malformed ? new Malformed(name, error.expected, text) : error
    }
  }
} satisfies Param<string>)
