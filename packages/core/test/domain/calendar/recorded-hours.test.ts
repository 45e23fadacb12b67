import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  cmeCalendar,
  continuousCalendar,
  type Span,
  type TradingCalendar,
  usEarlyCloses,
  usEquityCalendar,
  usHolidays,
  usOptionCalendar
} from '../../../src/domain/calendar/index.ts'
import { listedHours, type WallStretch } from './listed-hours.ts'
import { recorded } from './recorded.ts'

/** What is open on one day of the wall clock: `09:30-16:00` as `9.5-16`, stretches that touch as one. */
type Hours = string

interface Day {
  readonly date: string
  readonly ours: Hours
  readonly listed: Hours
}

/** A rule that says why the list has other hours on a day; the list's hours follow from it. */
interface Rule {
  readonly name: string
  explains(day: Day): boolean
}

const isHoliday = (date: string): boolean => usHolidays(Number(date.slice(0, 4))).has(date)
const isEarly = (date: string): boolean => usEarlyCloses(Number(date.slice(0, 4))).has(date)
const after = (date: string): string => Temporal.PlainDate.from(date).add({ days: 1 }).toString()

test('shares: the hours of every day from 1998 to 2027', t => {
  compare(t, { name: 'Equity-usa-[*]', calendar: usEquityCalendar(), phases: ['pre', 'open', 'post'] }, [
    {
      name: 'half days that the list leaves out: the recorded hours of SPY end with the 13:00 hour on them',
      explains: ({ date, ours, listed }) =>
        ['1998-11-27', '1998-12-24', '1999-12-31'].includes(date) &&
        ours === 'pre 4-9.5, open 9.5-13, post 13-17' &&
        listed === 'pre 4-9.5, open 9.5-16, post 16-20'
    },
    {
      name: 'late sessions of half days, to 17:00: the list ends such days with the regular session',
      explains: ({ date, ours, listed }) => isEarly(date) && ours === `${listed}, post 13-17`
    }
  ])
})

test('options: the hours of every day from 1998 to 2027', t => {
  compare(t, { name: 'Option-usa-[*]', calendar: usOptionCalendar(), phases: ['open'] }, [
    {
      name: 'days on which shares are closed: the list has no holidays of options',
      explains: ({ date, ours, listed }) => isHoliday(date) && ours === '' && listed === 'open 9.5-16'
    },
    {
      name: 'half days of shares: the list has none of options',
      explains: ({ date, ours, listed }) => isEarly(date) && ours === 'open 9.5-13' && listed === 'open 9.5-16'
    }
  ])
  const [index, equity] = [usOptionCalendar('index'), usOptionCalendar()]
  for (const date of ['2026-11-18', '2026-11-27', '2026-11-26']) {
    const [long, short] = [index.spansOn(date)[0], equity.spansOn(date)[0]]
    assert.equal((long?.end ?? 0) - (short?.end ?? 0), long === undefined ? 0 : 15 * 60_000)
  }
})

test('crypto: every day from 1998 to 2027 is open from midnight to midnight', t => {
  compare(t, { name: 'Crypto-coinbase-[*]', calendar: continuousCalendar(), phases: ['open'] }, [])
})

test('futures: the hours of every day from 1998 to 2027', t => {
  const evening = '18-24'
  const without = (hours: Hours): Hours => hours.replace(/(?:^|, )18-24$/, '')
  compare(t, { name: 'Future-cme-ES', common: 'Future-cme-[*]', calendar: cmeCalendar(), phases: null }, [
    {
      name: 'holidays and half days before 2009, and their eves: the list has only whole closures there; Globex halted at 11:30 and opened again at 18:00',
      explains: ({ date }) => date < '2009-01-02' && [date, after(date)].some(near => isHoliday(near) || isEarly(near))
    },
    {
      name: 'the evening before a closed day: nothing opens; the list says so only from 2023 on',
      explains: ({ date, ours, listed }) => isHoliday(after(date)) && listed !== ours && without(listed) === ours
    },
    {
      name: 'the evening of a closed day: the next day opens at 18:00; before 2023 the list closes to midnight',
      explains: ({ date, ours, listed }) => isHoliday(date) && ours === evening && listed === ''
    },
    {
      name: 'the evening after a half day before a holiday: the list leaves it out but opens at midnight',
      explains: ({ date, ours, listed }) => isEarly(date) && ours !== listed && without(ours) === listed
    },
    {
      name: 'half days of the stock exchanges that the list leaves out',
      explains: ({ date, ours, listed }) =>
        ['2023-07-03', '2024-07-03', '2024-11-29'].includes(date) && ours.replace('0-13.25', '0-17') === listed
    },
    {
      name: 'holidays and half days of 2027: the list has only one of them',
      explains: ({ date, listed }) =>
        date.startsWith('2027') && (isHoliday(date) || isEarly(date)) && (listed === '0-17, 18-24' || listed === '0-17')
    },
    {
      name: 'single faults of the list: no mourning on 2025-01-09, a closure beside the short hours of 2025-01-20, Christmas 2025 open',
      explains: ({ date }) => ['2025-01-09', '2025-01-20', '2025-12-25'].includes(date)
    }
  ])
})

test('futures: a trading date begins the evening before, and holidays belong to the next', () => {
  const calendar = cmeCalendar()
  const shown = (date: string): readonly string[] =>
    calendar.spansOn(date).map(span => `${span.phase} ${wall(span.start)} ${wall(span.end)}`)
  assert.deepEqual(shown('2026-11-18'), ['pre 2026-11-17T18:00 2026-11-18T09:30', 'open 2026-11-18T09:30 2026-11-18T17:00'])
  assert.deepEqual(shown('2026-01-19'), [])
  assert.deepEqual(shown('2026-01-20'), [
    'pre 2026-01-18T18:00 2026-01-19T13:00',
    'pre 2026-01-19T18:00 2026-01-20T09:30',
    'open 2026-01-20T09:30 2026-01-20T17:00'
  ])
  assert.equal(calendar.phaseAt(at('2026-01-19T14:00')), 'closed')
  assert.deepEqual(calendar.nextChange(at('2026-01-19T14:00')), { at: at('2026-01-19T18:00'), phase: 'pre' })
  // Good Friday of 2026 is the day of the payrolls figures, that of 2025 is not.
  assert.deepEqual(shown('2026-04-06')[0], 'pre 2026-04-02T18:00 2026-04-03T09:15')
  assert.deepEqual(shown('2025-04-21')[0], 'pre 2025-04-20T18:00 2025-04-21T09:30')
  // Clocks change on these Sundays.
  assert.deepEqual(shown('2026-03-09')[0], 'pre 2026-03-08T18:00 2026-03-09T09:30')
  assert.deepEqual(shown('2026-11-02')[0], 'pre 2026-11-01T18:00 2026-11-02T09:30')
})

interface Listed {
  readonly name: string
  readonly common?: string
  readonly calendar: TradingCalendar
  /** The phases that are compared by name; null: only whether it is open, and the regular sessions. */
  readonly phases: readonly string[] | null
}

function compare(t: TestContext, { name, common, calendar, phases }: Listed, rules: readonly Rule[]): void {
  const file = recorded(t, 'market-hours.json')
  if (file === null) return
  const list = listedHours(file, name, common)
  assert.equal(list.zone, calendar.zone)
  const explained = new Map(rules.map(rule => [rule.name, 0]))
  let [days, equal, regular] = [0, 0, 0]
  // The first date of the calendar may have begun the evening before it.
  for (let date = Temporal.PlainDate.from('1998-01-02'); date.year <= 2027; date = date.add({ days: 1 })) {
    const [ours, listed] = [oursOn(calendar, date), list.on(date)]
    const day = { date: date.toString(), ours: hoursOf(ours, phases !== null), listed: hoursOf(listed, phases !== null) }
    days++
    if (day.ours === day.listed) {
      equal++
      // Of equal hours the regular session is the same as well; on a holiday's short hours there is none.
      const sessions = [ours, listed].map(stretches =>
        hoursOf(
          stretches.filter(({ phase }) => phase === 'open'),
          true
        )
      )
      if (sessions[0] === sessions[1]) regular++
      else assert.ok(isHoliday(day.date) && sessions[0] === '', `${day.date}: ${sessions.join(' | ')}`)
      continue
    }
    const rule = rules.find(one => one.explains(day))
    assert.ok(rule !== undefined, `${day.date}: ours ${day.ours}, listed ${day.listed}`)
    explained.set(rule.name, (explained.get(rule.name) ?? 0) + 1)
  }
  t.diagnostic(
    `${name}: ${days} days compared, ${equal} equal (${equal - regular} of them holidays with short hours and no regular session of ours)`
  )
  for (const [rule, count] of explained) {
    t.diagnostic(`${count} × ${rule}`)
    assert.ok(count > 0, `the list needs no such rule any more: ${rule}`)
  }
  assert.equal(days, 10_956)
}

/** What is open on a day of the wall clock, whichever trading date it belongs to. */
function oursOn(calendar: TradingCalendar, date: Temporal.PlainDate): readonly WallStretch[] {
  const text = date.toString()
  const [start, end] = [date, date.add({ days: 1 })].map(day => day.toZonedDateTime(calendar.zone).epochMilliseconds)
  if (start === undefined || end === undefined) throw new TypeError('two days were asked for')
  return [text, calendar.nextTradingDay(text)]
    .flatMap(trading => calendar.spansOn(trading))
    .filter(span => span.start < end && span.end > start)
    .map(span => ({
      from: hourOf(Math.max(span.start, start), calendar, date),
      to: hourOf(Math.min(span.end, end), calendar, date),
      phase: span.phase
    }))
}

function hourOf(instant: number, { zone }: TradingCalendar, date: Temporal.PlainDate): number {
  const time = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
  return time.toPlainDate().equals(date) ? time.hour + time.minute / 60 : 24
}

function hoursOf(stretches: readonly (WallStretch | (Span & WallStretch))[], named: boolean): Hours {
  const whole: { from: number; to: number; phase: string }[] = []
  for (const { from, to, phase } of stretches) {
    const last = whole.at(-1)
    if (last !== undefined && last.to === from && (!named || last.phase === phase)) last.to = to
    else whole.push({ from, to, phase })
  }
  return whole.map(({ from, to, phase }) => `${named ? `${phase} ` : ''}${from}-${to}`).join(', ')
}

function at(text: string): number {
  return Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds
}

function wall(instant: number): string {
  return Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO('America/New_York')
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })
}
