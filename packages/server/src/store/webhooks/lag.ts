// How far an endpoint is behind: what it would be sent, counted up to bounds.
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { WebhookEndpoint } from '@trunkline/core/domain/webhook'
import { LAG_EVENTS_MAX, LAG_USERS_MAX, type WebhookLag } from '@trunkline/core/ports/webhook-store'
import type { Session } from '../session.ts'

// All users are compared at once: a plan that stops early looks each of them up, which costs ten times as much where few are behind.
// For what was erased, one event stands.
const LAGGING = `with behind as materialized (
    select counters.user_key, coalesce(cursors.seq, 0) as seq, counters.first_seq, counters.last_seq,
      (counters.first_seq > coalesce(cursors.seq, 0) + 1)::int as erased
    from webhook_endpoints endpoints
    join users using (platform_id)
    join user_counters counters on counters.user_key = users.user_key
    left join webhook_cursors cursors on cursors.endpoint_id = endpoints.endpoint_id and cursors.user_key = users.user_key
    where endpoints.endpoint_id = $1 and counters.last_seq > coalesce(cursors.seq, 0)
  ), counted as (select * from behind limit $2)`

// `seq` has no gaps: without a filter no event is read but the oldest of each user.
const LAG = `${LAGGING}
  select count(*)::int as users, coalesce(sum(last_seq - greatest(seq, first_seq - 1) + erased), 0)::bigint as events,
    (select count(*) > $2 from behind) as is_lower_bound,
    (select min(at) from counted join events on events.user_key = counted.user_key and events.seq = greatest(counted.seq + 1, first_seq)) as oldest_at
  from counted`

// An order's status is found as it is written: texts inside the document have their quotes escaped, and no other member has this name.
const FILTERED_LAG = `${LAGGING}, looked as materialized (
    select next.* from counted cross join lateral (
      select user_key, at, ($3::text[] is null or topic = any ($3)) and (topic <> 'orders' or $4::text[] is null or data like any ($4)) as passes
      from events where events.user_key = counted.user_key and events.seq > counted.seq order by events.seq
    ) next
    limit $5 + 1
  ), passing as (select user_key, at from (select * from looked limit $5) asked where passes)
  select (select count(*) from (select user_key from passing union select user_key from counted where erased > 0) of_users)::int as users,
    ((select count(*) from passing) + (select coalesce(sum(erased), 0) from counted))::bigint as events,
    (select count(*) > $2 from behind) or (select count(*) > $5 from looked) as is_lower_bound,
    (select min(at) from passing) as oldest_at`

interface Row {
  readonly users: number
  readonly events: number
  readonly is_lower_bound: boolean
  readonly oldest_at: Timestamp | null
}

/** @throws StoreUnavailable if the database does not answer. */
export async function readLag(
  session: Session,
  { endpointId, filter: { topics, orderStatuses } }: Pick<WebhookEndpoint, 'endpointId' | 'filter'>
): Promise<WebhookLag> {
  const isFiltered = topics !== null || orderStatuses !== null
  const patterns = orderStatuses?.map(status => `%"status":"${status}"%`) ?? null
  const [row] = isFiltered
    ? await session.rows<Row>(FILTERED_LAG, [endpointId, LAG_USERS_MAX, topics, patterns, LAG_EVENTS_MAX])
    : await session.rows<Row>(LAG, [endpointId, LAG_USERS_MAX])
  const { users = 0, events = 0, is_lower_bound: isLowerBound = false, oldest_at: oldestAt = null } = row ?? {}
  return { users, events, isLowerBound, oldestAt }
}
