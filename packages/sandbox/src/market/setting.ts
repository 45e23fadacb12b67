/** Reads the market setting: `synthetic`, or `replay:<folder>?date=2013-10-07&speed=60`. */
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { RESOLUTIONS, type Resolution } from './lean/rows.ts'

export interface ReplaySetting {
  readonly kind: 'replay'
  readonly folder: string
  /** First and last date, `YYYY-MM-DD`, inclusive; null: the earliest date with the finest recording. */
  readonly dates: { readonly first: string; readonly last: string } | null
  /** The start, `HH:MM` of the first date, in New York time if shares or options are played, otherwise UTC; null: the first record. */
  readonly at: string | null
  /** Market time per real time; `max`: as fast as it can be read. Null: not specified. */
  readonly speed: number | 'max' | null
  /** Only these symbols; null: all that are recorded on those dates. */
  readonly symbols: readonly string[] | null
  /** Null: the finest recorded one, except hour and daily bars. */
  readonly resolution: Resolution | null
}

export type MarketSetting = { readonly kind: 'synthetic' } | ReplaySetting

/**
 * `synthetic`, or `replay:<folder>`, optionally followed by `?` and `date=A` or `date=A..B`, `at=09:30`, `speed=60` or `speed=max`,
 * `symbols=SPY,AAPL`, `resolution=tick|second|minute|hour|daily`.
 * @throws Malformed naming the invalid part
 */
export function parseMarketSetting(text: string): MarketSetting {
  if (text === 'synthetic') return { kind: 'synthetic' }
  const [, folder, query = ''] = /^replay:([^?]+)(?:\?(.*))?$/.exec(text) ?? []
  if (folder === undefined) throw new Malformed('the market', 'synthetic or replay:<folder>', text)
  const options = new URLSearchParams(query)
  const known = ['date', 'at', 'speed', 'symbols', 'resolution']
  for (const name of options.keys()) if (!known.includes(name)) throw new Malformed('a replay option', `one of ${known.join(', ')}`, name)
  return {
    kind: 'replay',
    folder,
    dates: dates(options.get('date')),
    at: time(options.get('at')),
    speed: speed(options.get('speed')),
    symbols: symbols(options.get('symbols')),
    resolution: resolution(options.get('resolution'))
  }
}

function dates(text: string | null): ReplaySetting['dates'] {
  if (text === null) return null
  const [first = '', last = first, ...more] = text.split('..')
  const range = { first: parseDay(first, 'the date of the replay'), last: parseDay(last, 'the last date of the replay') }
  if (more.length > 0 || range.last < range.first) throw new Malformed('the date of the replay', 'a date or first..last', text)
  return range
}

function time(text: string | null): string | null {
  if (text === null || /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text)) return text
  throw new Malformed('the start of the replay (at)', 'a time of day such as 09:30', text)
}

function speed(text: string | null): number | 'max' | null {
  if (text === null || text === 'max') return text
  const value = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (value <= 0) throw new Malformed('the speed of the replay', 'a positive number or max', text)
  return value
}

function symbols(text: string | null): readonly string[] | null {
  return text === null ? null : text.split(',').map(symbol => symbol.trim().toUpperCase())
}

function resolution(text: string | null): Resolution | null {
  const found = RESOLUTIONS.find(name => name === text)
  if (text === null || found !== undefined) return found ?? null
  throw new Malformed('the resolution of the replay', `one of ${RESOLUTIONS.join(', ')}`, text)
}
