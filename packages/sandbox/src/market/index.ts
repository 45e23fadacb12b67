/** Where the sandbox's prices come from: a seeded synthetic market, or recorded data played again. */

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
  /** Any text; a synthetic market of the same seed is the same market. */
  readonly seed: string
  readonly calendar: CalendarChoice
  /** Of a synthetic symbol of full pace, 0.2 to 20; 2 by default. */
  readonly updatesPerSecond?: number
}

/**
 * The market a setting names (see {@link parseMarketSetting}).
 * @throws Malformed when the setting is wrong or nothing is recorded of what it asks for, BadMarketData when recorded data is damaged
 */
export async function openMarket(text: string, options: MarketOptions): Promise<Market> {
  const setting = parseMarketSetting(text)
  if (setting.kind === 'synthetic') return openSynthetic(options)
  return openReplay(await openCatalog(setting.folder), setting, options.calendar)
}
