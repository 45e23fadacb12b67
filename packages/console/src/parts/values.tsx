// How single values of records are shown.
import { Fragment, type ReactNode } from 'react'
import { localTime, partsOf, shown, UNKNOWN } from '../format.ts'
import { distinctIds } from '../row-ids.ts'

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Null, said as what it means: `unknown` unless the record gives it another meaning. */
export function Missing({ means = UNKNOWN }: { readonly means?: string | undefined }): ReactNode {
  return <span className="missing">{means}</span>
}

/** Any value as text; decimals as they came. */
export function Value({ value, nullMeans }: { readonly value: unknown; readonly nullMeans?: string }): ReactNode {
  return value === null || value === undefined ? <Missing means={nullMeans} /> : <span className="value">{shown(value)}</span>
}

/** A name or an id, whose lines may end where {@link partsOf} says. */
export function Name({ text }: { readonly text: string }): ReactNode {
  const [first, ...more] = partsOf(text)
  const keys = distinctIds(more)
  return (
    <span className="wraps">
      <span>{first}</span>
      {more.map((part, at) => (
        <Fragment key={keys[at]}>
          <wbr />
          <span>{part}</span>
        </Fragment>
      ))}
    </span>
  )
}

/** An id. */
export function Id({ text }: { readonly text: string }): ReactNode {
  return (
    <code>
      <Name text={text} />
    </code>
  )
}

/** A time in the zone of this browser; the recorded text is in its title. */
export function Time({ at, nullMeans }: { readonly at: string | null; readonly nullMeans?: string }): ReactNode {
  if (at === null) return <Missing means={nullMeans} />
  return (
    <time dateTime={at} title={at}>
      {localTime(at, TIME_ZONE)}
    </time>
  )
}

const GOOD = new Set(['filled', 'ACTIVE', 'live', 'acknowledged', 'ok', 'delivered'])
const BAD = new Set(['rejected', 'BROKEN', 'broken', 'refused', 'refused_by_gateway', 'failing'])
const OPEN = new Set(['unknown', 'stale', 'pending', 'submitting', 'pending_cancel', 'pending_replace', 'draining'])

interface StatusProps {
  readonly status: string | null
  readonly nullMeans?: string | undefined
  /** It is shown as a warning, although the same word elsewhere is none. */
  readonly isWarning?: boolean
}

/** A status, by its own name: the colour only repeats it. */
export function Status({ status, nullMeans, isWarning = false }: StatusProps): ReactNode {
  if (status === null) return <Missing means={nullMeans} />
  const tone = GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : isWarning || OPEN.has(status) ? 'open' : 'plain'
  return <span className={`status ${tone}`}>{status}</span>
}
