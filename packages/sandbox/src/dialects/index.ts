/** The one list of brokers whose tongues the sandbox speaks. */

import type { OpenDialect } from '../house/dialect.ts'

export const DIALECTS: readonly OpenDialect[] = []
