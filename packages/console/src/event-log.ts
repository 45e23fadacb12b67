// The updates of one user as the inspector keeps them: in order, each once, bounded, and with what is missing named.

/** What the inspector needs of an update. */
export interface UserEvent {
  readonly seq: number
  readonly event_id: string
  readonly type: string
  readonly data: unknown
}

/** What it needs of a page of updates. */
export interface UserEvents {
  readonly data: readonly UserEvent[]
  /** The `seq` of the oldest update that is still kept. */
  readonly oldest_seq: number
  readonly last_seq: number
}

/** Older updates leave the page at this bound; the log still has them, by `after`. */
export const EVENTS_MAX = 1_000

/** The first and last `seq` of neighbours. */
export type Missing = readonly [from: number, to: number]

export interface EventLog {
  /** By `seq`, ascending. */
  readonly events: readonly UserEvent[]
  /** The `seq` up to which the log was read. */
  readonly after: number
  /** How many updates the page let go at its bound. */
  readonly dropped: number
  /** Updates that the service no longer kept, ascending. Those older than an update that left the page leave with it. */
  readonly missing: readonly Missing[]
  /** The newest `seq` of the user when the last page was read; null before. */
  readonly lastSeq: number | null
}

/** Before the first page. */
export function emptyLog(after: number): EventLog {
  return { events: [], after, dropped: 0, missing: [], lastSeq: null }
}

/** With another page. A page that was read twice changes nothing. */
export function withPage(log: EventLog, page: UserEvents): EventLog {
  const fresh = page.data.filter(({ seq }) => seq > log.after)
  const all = [...log.events, ...fresh]
  const dropped = Math.max(all.length - EVENTS_MAX, 0)
  const isGap = page.oldest_seq > log.after + 1
  const gone = all[dropped - 1]?.seq ?? 0
  const missing = isGap ? withMissing(log.missing, [log.after + 1, page.oldest_seq - 1]) : log.missing
  return {
    events: dropped === 0 ? all : all.slice(dropped),
    after: fresh.at(-1)?.seq ?? Math.max(log.after, isGap ? page.oldest_seq - 1 : 0),
    dropped: log.dropped + dropped,
    missing: missing.filter(([, to]) => to > gone),
    lastSeq: page.last_seq
  }
}

/** Neighbours become one, so that there is an update between two of them: this bounds their number. */
function withMissing(missing: readonly Missing[], [from, to]: Missing): readonly Missing[] {
  const last = missing.at(-1)
  return last !== undefined && last[1] + 1 === from ? [...missing.slice(0, -1), [last[0], to]] : [...missing, [from, to]]
}

const NAMED_MAX = 5

/** `1 to 4, 7, 9 to 12`: the newest five, and how many others there are. */
export function missingText(missing: readonly Missing[]): string {
  const named = missing.slice(-NAMED_MAX).map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`))
  const others = missing.length - named.length
  return `${others === 0 ? '' : `of ${others} older ${others === 1 ? 'range' : 'ranges'}, and `}${named.join(', ')}`
}

/** The updates of a type that contain a text, in either case; the text is looked for in the whole update. */
export function matching(events: readonly UserEvent[], type: string, text: string): readonly UserEvent[] {
  const wanted = text.trim().toLowerCase()
  return events.filter(
    event => (type === '' || event.type === type) && (wanted === '' || JSON.stringify(event).toLowerCase().includes(wanted))
  )
}

/** Where to begin: a `seq` that was typed, or null for what is none. Nothing typed begins at the first update. */
export function afterOf(text: string | undefined): number | null {
  if (text === undefined || text === '') return 0
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}
