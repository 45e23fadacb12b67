/** Finds the recorded market data, which is never part of the project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const FOLDER = process.env.TRUNKLINE_MARKET_DATA ?? join(import.meta.dirname, '../../../../../shared/market-data')

/** The folder of recorded data; without it the test's output notes it and null comes back. */
export function recordedFolder(t: TestContext): string | null {
  if (existsSync(join(FOLDER, 'equity'))) return FOLDER
  t.diagnostic('recorded market data is absent: set TRUNKLINE_MARKET_DATA to check against it; only made data was checked')
  return null
}
