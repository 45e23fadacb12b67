/** Reads the recorded list of market hours: the open hours of an exchange on each date, in wall-clock time. */
import { readFileSync } from 'node:fs'

/** Hours after midnight on the wall clock, `to` exclusive. */
export interface WallStretch {
  readonly from: number
  readonly to: number
  readonly phase: 'pre' | 'open' | 'post'
}

export interface ListedHours {
  readonly zone: string
  readonly closed: ReadonlySet<string>
  readonly early: ReadonlyMap<string, number>
  on(date: Temporal.PlainDate): readonly WallStretch[]
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const PHASES: Readonly<Record<string, WallStretch['phase']>> = { premarket: 'pre', market: 'open', postmarket: 'post' }

/**
 * The hours of one entry. A closed date of `common`, the entry of the whole exchange, is also closed in this one. An early close ends the
 * open hours and drops later ones; a late open drops earlier ones; a late open after an early close drops those between.
 */
export function listedHours(file: string, name: string, common?: string): ListedHours {
  const { entries } = JSON.parse(readFileSync(file, 'utf8'))
  const entry = entries[name]
  const closed = new Set<string>([...entry.holidays, ...(common === undefined ? [] : entries[common].holidays)].map(iso))
  const early = dated(entry.earlyCloses)
  const late = dated(entry.lateOpens)
  return {
    zone: entry.exchangeTimeZone,
    closed,
    early,
    on(date) {
      const text = date.toString()
      if (closed.has(text)) return []
      const stretches: readonly WallStretch[] = entry[WEEKDAYS[date.dayOfWeek - 1] ?? ''].map(stretchOf)
      const closes = early.get(text) ?? 24
      const opens = late.get(text) ?? 0
      const parts = closes < opens ? [[0, closes] as const, [opens, 24] as const] : [[opens, closes] as const]
      return stretches.flatMap(({ from, to, phase }) =>
        parts.map(([least, most]) => ({ from: Math.max(from, least), to: Math.min(to, most), phase })).filter(part => part.from < part.to)
      )
    }
  }
}

function stretchOf({ start, end, state }: { start: string; end: string; state: string }): WallStretch {
  const phase = PHASES[state]
  if (phase === undefined) throw new TypeError(`unknown state ${state} in the recorded hours`)
  return { from: hours(start), to: hours(end), phase }
}

function dated(times: Readonly<Record<string, string>> | undefined): ReadonlyMap<string, number> {
  return new Map(Object.entries(times ?? {}).map(([date, time]) => [iso(date), hours(time)]))
}

/** `09:30:00` → 9.5, `1.00:00:00` → 24. */
function hours(text: string): number {
  const [, days, hour, minute] = /^(?:(\d)\.)?(\d\d):(\d\d):00$/.exec(text) ?? []
  if (hour === undefined) throw new TypeError(`unreadable time ${text} in the recorded hours`)
  return Number(days ?? 0) * 24 + Number(hour) + Number(minute) / 60
}

function iso(text: string): string {
  const [month, day, year] = text.split('/').map(Number)
  return Temporal.PlainDate.from({ year: year ?? 0, month: month ?? 0, day: day ?? 0 }).toString()
}
