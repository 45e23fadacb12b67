// The event inspector: the updates of one user, live, from any place of the log on.
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { TextField } from 'react-aria-components/TextField'
import { get } from '../api.ts'
import { useEventFeed } from '../event-feed.ts'
import { afterOf, type EventLog, matching, missingText, type UserEvent } from '../event-log.ts'
import { counted } from '../format.ts'
import { CopyRowRequest, CopyText } from '../parts/copy.tsx'
import { choicesOf, FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure } from '../parts/states.tsx'
import { useIsUsed } from '../use-of-page.ts'

const route = getRouteApi('/events')
const UNUSED = 'Paused, since the page was not used for a quarter of an hour'
const FILTERS = [
  { name: 'user', label: 'User (user_key)' },
  { name: 'after', label: 'After seq' },
  { name: 'type', label: 'Type', choices: choicesOf(['orders', 'positions', 'balances']) }
] as const

/** The page of the inspector. */
export function EventsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { user, type = '' } = filters
  const after = afterOf(filters.after)
  return (
    <Page title="Events" request={user === undefined ? undefined : get('/events', {}, { user, after: filters.after })}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      {after === null ? (
        <Empty>
          <p>“After seq” must be a whole number from 0, without spaces: the seq of the last update that you have.</p>
        </Empty>
      ) : user === undefined ? (
        <Empty>
          <p>Give the key of a user whose updates to follow. Search finds it by the user’s name, and the list of users has it.</p>
        </Empty>
      ) : (
        <Inspector key={`${user} ${after}`} user={user} after={after} type={type} />
      )}
    </Page>
  )
}

function Inspector({ user, after, type }: { readonly user: string; readonly after: number; readonly type: string }): ReactNode {
  const [isLive, setIsLive] = useState(true)
  const [text, setText] = useState('')
  const isUsed = useIsUsed()
  const { log, error } = useEventFeed(user, after, isLive && isUsed)
  const chosen = matching(log.events, type, text)
  return (
    <>
      <div className="filters">
        <TextField className="field" value={text} onChange={setText}>
          <Label>Contains</Label>
          <Input className="input" />
        </TextField>
        <Button className="button" onPress={() => setIsLive(!isLive)} aria-pressed={isLive}>
          {isLive ? 'Pause' : 'Follow'}
        </Button>
      </div>
      <p className="hint" role="status">
        <Progress log={log} shownCount={chosen.length} state={isLive ? (isUsed ? 'Following' : UNUSED) : 'Paused'} />
      </p>
      {error !== null && isLive && <Failure error={error} />}
      {log.missing.length > 0 && (
        <p className="notice">Updates {missingText(log.missing)} are no longer kept, so they are not in this list.</p>
      )}
      {chosen.length === 0 ? (
        <Empty>
          <p>{log.lastSeq === null ? 'Reading the updates…' : 'No updates yet that match. New ones appear by themselves.'}</p>
        </Empty>
      ) : (
        <ol className="events" reversed>
          {chosen.toReversed().map(event => (
            <EventItem key={event.seq} user={user} event={event} />
          ))}
        </ol>
      )}
    </>
  )
}

interface ProgressProps {
  readonly log: EventLog
  readonly shownCount: number
  readonly state: string
}

function Progress({ log, shownCount, state }: ProgressProps): ReactNode {
  if (log.lastSeq === null) return `${state}.`
  return [
    `${state}: read to seq ${log.after} of ${log.lastSeq}.`,
    `${counted(shownCount)} of ${counted(log.events.length)} updates are shown, the newest first.`,
    ...(log.dropped === 0 ? [] : [`${counted(log.dropped)} older ones left the page: read them with “After seq”.`])
  ].join(' ')
}

function EventItem({ user, event }: { readonly user: string; readonly event: UserEvent }): ReactNode {
  const request = get('/events', {}, { user, after: String(event.seq - 1), limit: '1' })
  const text = JSON.stringify(event.data, null, 2)
  return (
    <li>
      <details>
        <summary>
          <code>{event.seq}</code> {event.type} <span className="hint">{summaryOf(event.data)}</span>
        </summary>
        <CopyText text={event.event_id} what="event id" /> <CopyRowRequest request={request} what={`event ${event.seq}`} />
        <pre>{text}</pre>
      </details>
    </li>
  )
}

const SUMMARY = ['normalized_status', 'side', 'order_qty', 'symbol', 'cl_order_id', 'account_id', 'currency']

/** The members that tell updates apart, as they are. */
function summaryOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return ''
  const members = new Map(Object.entries(data))
  return SUMMARY.flatMap(name => {
    const value: unknown = members.get(name)
    return typeof value === 'string' ? [value] : []
  }).join(' · ')
}
