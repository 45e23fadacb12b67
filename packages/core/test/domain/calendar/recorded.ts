/** Finds the recorded market data, which is never part of the project. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const FOLDER = process.env.TRUNKLINE_MARKET_DATA ?? join(import.meta.dirname, '../../../../../../shared/market-data')

/** The path of a recorded file; where there is none the test's output says so and null comes back. */
export function recorded(t: TestContext, path: string): string | null {
  const file = join(FOLDER, path)
  if (existsSync(file)) return file
  t.diagnostic(`recorded market data is absent (${path}): set TRUNKLINE_MARKET_DATA to check against it; only the made data was checked`)
  return null
}
