/** The sources of the sandbox's prices: a seeded synthetic market, or a replay of recorded data. */

import type { CalendarChoice } from './hours.ts'
import { openCatalog } from './lean/catalog.ts'
import { openReplay } from './replay/replay.ts'
import { parseMarketSetting } from './setting.ts'
import { openSynthetic } from './synthetic/synthetic.ts'
import type { Market } from './types.ts'

export { type DescribedLevel, describedLevels, printVenue } from './depth.ts'
export type { CalendarChoice } from './hours.ts'
export { BAD_DATA_REASONS, type BadDataReason, BadMarketData } from './lean/bad-data.ts'
export { type Catalog, openCatalog, type RecordedFile } from './lean/catalog.ts'
export {
  type RecordedQuery,
  type RecordedQuoteBar,
  type RecordedTradeBar,
  recordedQuoteBars,
  recordedTradeBars
} from './lean/recorded-bars.ts'
export { openReplay } from './replay/replay.ts'
export { type MarketSetting, parseMarketSetting, type ReplaySetting } from './setting.ts'
export { openSynthetic, type SyntheticOptions } from './synthetic/synthetic.ts'
export * from './types.ts'

export interface MarketOptions {
  /** Any text; synthetic markets with the same seed are identical. */
  readonly seed: string
  readonly calendar: CalendarChoice
  /** Updates per second of a synthetic symbol with full pace, 0.2 to 20; 2 by default. */
  readonly updatesPerSecond?: number
}

/**
 * The market of a setting (see {@link parseMarketSetting}).
 * @throws Malformed if the setting is invalid or nothing is recorded for it, BadMarketData if recorded data is damaged
 */
export async function openMarket(text: string, options: MarketOptions): Promise<Market> {
  const setting = parseMarketSetting(text)
  if (setting.kind === 'synthetic') return openSynthetic(options)
  return openReplay(await openCatalog(setting.folder), setting, options.calendar)
}
