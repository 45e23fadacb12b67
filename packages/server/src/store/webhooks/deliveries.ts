import type { WebhookDeliveryId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Page, PageRequest } from '@trunkline/core/ports/store'
import type { WebhookDelivery, WebhookDeliveryFilter, WebhookDeliveryStore } from '@trunkline/core/ports/webhook-store'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { edgeKeys, pageOf, walkOf } from '../page.ts'
import type { Session } from '../session.ts'
import { readDelivery, writeDelivery } from './documents.ts'

const PRUNE_OLD = `/* writes */ delete from webhook_deliveries where ctid in (
  select ctid from webhook_deliveries where started_at < $1 limit $2) returning 1 as erased`

// The newest of each endpoint that is too many.
const BOUNDS = `select bound.* from webhook_endpoints cross join lateral (
    select endpoint_id, started_at, delivery_id from webhook_deliveries where webhook_deliveries.endpoint_id = webhook_endpoints.endpoint_id
    order by started_at desc, delivery_id desc offset $1 limit 1
  ) bound`

const PRUNE_MANY = `/* writes */ delete from webhook_deliveries where ctid = any (array(
  select ctid from webhook_deliveries where endpoint_id = $1 and (started_at, delivery_id) <= ($2, $3) limit $4)) returning 1 as erased`

interface Bound {
  readonly endpoint_id: WebhookEndpointId
  readonly started_at: Timestamp
  readonly delivery_id: WebhookDeliveryId
}

export class SqlWebhookDeliveryStore implements WebhookDeliveryStore {
  readonly #session: Session
  /** Of the endpoints of which too many are left: they are found once, and not at each step. */
  #bounds: readonly Bound[] = []

  constructor(session: Session) {
    this.#session = session
  }

  async add(delivery: WebhookDelivery): Promise<void> {
    const { endpointId, deliveryId, userKey, messageId, startedAt, failure } = delivery
    // Nothing, if the endpoint or the user has gone meanwhile.
    await this.#session.statement(
      `/* writes */ insert into webhook_deliveries (endpoint_id, delivery_id, user_key, message_id, started_at, has_succeeded, document)
      select $1, $2, $3::uuid, $4, $5, $6, $7 where exists (select from webhook_endpoints where endpoint_id = $1 for key share)
        and ($3::uuid is null or exists (select from users where user_key = $3::uuid for key share))
      on conflict (endpoint_id, delivery_id) do nothing`,
      [endpointId, deliveryId, userKey, messageId, startedAt, failure === null, writeDelivery(delivery)]
    )
  }

  async find(endpointId: WebhookEndpointId, deliveryId: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    const row = await this.#session.read(db =>
      db
        .selectFrom('webhook_deliveries')
        .select('document')
        .where('endpoint_id', '=', endpointId)
        .where('delivery_id', '=', deliveryId)
        .executeTakeFirst()
    )
    return row === undefined ? null : readDelivery(row.document)
  }

  async list(endpointId: WebhookEndpointId, filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>> {
    const walk = walkOf(page)
    const [value, unique] = page.edge === null ? ['', ''] : edgeKeys(page.edge)
    const side = (comparison: '<' | '>' | '<=' | '>=') =>
      sql<boolean>`(started_at, delivery_id) ${sql.raw(comparison)} (${value}::timestamptz, ${unique}::uuid)`
    return await this.#session.read(async db => {
      let forward = matching(db, endpointId, filter).select(['started_at', 'delivery_id', 'document'])
      if (page.edge !== null) forward = forward.where(side(walk.beyond))
      const rows = await forward.orderBy('started_at', walk.direction).orderBy('delivery_id', walk.direction).limit(walk.limit).execute()
      const behind =
        page.edge !== null &&
        (await matching(db, endpointId, filter).select('delivery_id').where(side(walk.behind)).limit(1).executeTakeFirst()) !== undefined
      return pageOf(rows, page, behind, {
        row: ({ document }) => readDelivery(document),
        key: row => [row.started_at, row.delivery_id]
      })
    })
  }

  async prune(at: Timestamp, perEndpoint: number, limit: number): Promise<number> {
    const old = await this.#session.statement(PRUNE_OLD, [at, limit])
    if (old.length === limit) return limit
    if (this.#bounds.length === 0) this.#bounds = await this.#session.rows<Bound>(BOUNDS, [perEndpoint])
    let erased = old.length
    for (let [bound] = this.#bounds; bound !== undefined && erased < limit; [bound] = this.#bounds) {
      const { endpoint_id: id, started_at: at, delivery_id: deliveryId } = bound
      const many = await this.#session.statement(PRUNE_MANY, [id, at, deliveryId, limit - erased])
      erased += many.length
      if (erased < limit) this.#bounds = this.#bounds.slice(1)
    }
    return erased
  }
}

function matching(db: Kysely<Database>, endpointId: WebhookEndpointId, { userKey, messageId, outcome, from, to }: WebhookDeliveryFilter) {
  let query = db.selectFrom('webhook_deliveries').where('endpoint_id', '=', endpointId)
  if (userKey !== undefined) query = query.where('user_key', '=', userKey)
  if (messageId !== undefined) query = query.where('message_id', '=', messageId)
  if (outcome !== undefined) query = query.where('has_succeeded', '=', outcome === 'succeeded')
  if (from !== undefined) query = query.where('started_at', '>=', from)
  if (to !== undefined) query = query.where('started_at', '<=', to)
  return query
}
