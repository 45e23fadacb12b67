/** The one list of brokers that the sandbox emulates. */

import type { OpenDialect } from '../brokerage/dialect.ts'
import { alpaca } from './alpaca/index.ts'
import { tradestation } from './tradestation/index.ts'
import { tradier } from './tradier/index.ts'

export const DIALECTS: readonly OpenDialect[] = [alpaca, tradestation(), tradier()]
