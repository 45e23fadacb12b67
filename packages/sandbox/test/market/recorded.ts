/** Finds the recorded market data, which is never part of the project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const FOLDER = process.env.TRUNKLINE_MARKET_DATA ?? join(import.meta.dirname, '../../../../../shared/market-data')

/** The folder of recorded data; null, with a note in the test's output, if there is none. */
export function recordedFolder(t: TestContext): string | null {
  if (existsSync(join(FOLDER, 'equity'))) return FOLDER
  t.diagnostic('recorded market data is absent: set TRUNKLINE_MARKET_DATA to check against it; only made data was checked')
  return null
}
