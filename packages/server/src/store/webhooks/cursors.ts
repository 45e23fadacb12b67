import type { PlatformId, UserId, UserKey, WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { Partition } from '@trunkline/core/domain/partition'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { WebhookCursor, WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { WebhookBacklog, WebhookCursorStore, WebhookLag, WebhookProgress } from '@trunkline/core/ports/webhook-store'
import type { Session } from '../session.ts'
import { BatchWriter } from '../writes/batch-writer.ts'
import { writeDelivery } from './documents.ts'
import { readLag } from './lag.ts'

const RECORD = 'select record_webhooks($1) as found'

const COLUMNS = `coalesce(cursors.seq, 0) as seq, cursors.trying_to, coalesce(cursors.attempts, 0) as attempts, cursors.retry_at`

const ACTIVE = `select endpoint_id, platform_id from webhook_endpoints join platforms using (platform_id)
  where webhook_endpoints.disabled_at is null and platforms.disabled_at is null and ($1::uuid is null or endpoint_id >= $1::uuid)
  order by endpoint_id`

// Of one endpoint. A user's partition is the last byte of its key.
const BEHIND = `select users.user_key, users.user_id, counters.last_seq, counters.first_seq, ${COLUMNS}
  from users
  join user_counters counters on counters.user_key = users.user_key
  left join webhook_cursors cursors on cursors.endpoint_id = $1 and cursors.user_key = users.user_key
  where users.platform_id = $2 and users.user_key > $3
    and counters.last_seq > coalesce(cursors.seq, 0)
    and get_byte(uuid_send(users.user_key), 15) = any ($4::int[])`

const OLDEST = `select page.*, (select at from events
    where events.user_key = page.user_key and events.seq = greatest(page.seq + 1, page.first_seq)) as oldest_at`

// Mostly nobody is behind: all users are compared at once, which costs a fifth of a look-up for each.
const FIRST_PAGE = `with behind as materialized (${BEHIND})
  ${OLDEST} from (select * from behind order by user_key limit $5) page order by user_key`

// Many are behind: in the order of an index, where the last page ended, until the page is full.
const NEXT_PAGE = `${OLDEST} from (${BEHIND} order by users.user_key limit $5) page order by user_key`

/** Before every user: a key has a version, which this has not. */
const FIRST = '00000000-0000-0000-0000-000000000000'

const FIND = `select ${COLUMNS} from webhook_cursors cursors where endpoint_id = $1 and user_key = $2`

interface CursorRow {
  readonly seq: number
  readonly trying_to: number | null
  readonly attempts: number
  readonly retry_at: Timestamp | null
}

interface ActiveRow {
  readonly endpoint_id: WebhookEndpointId
  readonly platform_id: PlatformId
}

interface BacklogRow extends CursorRow {
  readonly user_key: UserKey
  readonly user_id: UserId
  readonly last_seq: number
  readonly oldest_at: Timestamp | null
}

interface Unit {
  readonly step: WebhookProgress
  readonly size: number
}

export class SqlWebhookCursorStore implements WebhookCursorStore {
  readonly #session: Session
  readonly #writer: BatchWriter<Unit, { readonly isKnown: boolean }>

  constructor(session: Session, deps: { readonly clock: Clock; readonly log: Log }) {
    this.#session = session
    const rules = {
      what: 'webhook attempts',
      keys: ({ step: { endpointId, userKey } }: Unit) => [`${endpointId} ${userKey}`],
      write: (units: readonly Unit[]) => this.#write(units)
    }
    this.#writer = new BatchWriter(rules, deps)
  }

  async behind(
    partitions: ReadonlySet<Partition>,
    after: { readonly endpointId: WebhookEndpointId; readonly userKey: UserKey } | null,
    limit: number
  ): Promise<readonly WebhookBacklog[]> {
    const active = await this.#session.rows<ActiveRow>(ACTIVE, [after?.endpointId ?? null])
    const found: WebhookBacklog[] = []
    for (const { endpoint_id: endpointId, platform_id: platformId } of active) {
      if (found.length >= limit) break
      const edge = after?.endpointId === endpointId ? after.userKey : null
      const parameters = [endpointId, platformId, edge ?? FIRST, [...partitions], limit - found.length]
      const rows = await this.#session.rows<BacklogRow>(edge === null ? FIRST_PAGE : NEXT_PAGE, parameters)
      for (const row of rows) {
        const { user_key: userKey, user_id: userId, last_seq: last, oldest_at: oldestAt } = row
        found.push({ endpointId, userKey, userId, cursor: cursorOf(row), last, oldestAt })
      }
    }
    return found
  }

  async find(endpointId: WebhookEndpointId, userKey: UserKey): Promise<WebhookCursor | null> {
    const [row] = await this.#session.rows<CursorRow>(FIND, [endpointId, userKey])
    return row === undefined ? null : cursorOf(row)
  }

  async progress(step: WebhookProgress): Promise<boolean> {
    return (await this.#writer.submit({ step, size: 1 })).isKnown
  }

  lag(endpoint: Pick<WebhookEndpoint, 'endpointId' | 'filter'>): Promise<WebhookLag> {
    return readLag(this.#session, endpoint)
  }

  /** Writes what waits; accepts nothing more. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  async #write(units: readonly Unit[]): Promise<readonly { readonly isKnown: boolean }[]> {
    const users = [...new Set(units.map(({ step }) => step.userKey))]
    const steps = JSON.stringify(units.map(({ step }, place) => stepOf(step, place)))
    const [row] = await this.#session.ownedStatement<{ found: string }>(RECORD, [steps], users)
    const found = new Set<unknown>(JSON.parse(row?.found ?? '[]'))
    return units.map((_, place) => ({ isKnown: found.has(place) }))
  }
}

function stepOf({ endpointId, userKey, cursor, delivery, tried }: WebhookProgress, place: number): object {
  const { seq, tryingTo, attempts, retryAt } = cursor
  const over = tried && { revision: tried.revision, otherAttempts: tried.otherwise.attempts, otherRetryAt: tried.otherwise.retryAt }
  const moved = { place, endpoint: endpointId, user: userKey, seq, tryingTo, attempts, retryAt, ...over }
  if (delivery === null) return moved
  const { deliveryId, messageId, startedAt, failure } = delivery
  const kept = { delivery: deliveryId, message: messageId, startedAt, hasSucceeded: failure === null, document: writeDelivery(delivery) }
  return { ...moved, ...kept }
}

function cursorOf({ seq, trying_to: tryingTo, attempts, retry_at: retryAt }: CursorRow): WebhookCursor {
  return { seq, tryingTo, attempts, retryAt }
}
