// Endpoints for webhooks, their cursors and their deliveries.
import type { PlatformId, UserKey, WebhookDeliveryId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { passes, type WebhookCursor, type WebhookEndpoint, type WebhookFilter } from '@trunkline/core/domain/webhook'
import type { AuditEntry, Page, PageRequest, SealedValue } from '@trunkline/core/ports/store'
import {
  type KnownWebhookEndpoint,
  LAG_EVENTS_MAX,
  LAG_USERS_MAX,
  type WebhookBacklog,
  type WebhookCursorStore,
  type WebhookDelivery,
  type WebhookDeliveryFilter,
  type WebhookDeliveryStore,
  type WebhookEndpointStore,
  type WebhookLag,
  type WebhookProgress,
  type WebhookStore
} from '@trunkline/core/ports/webhook-store'
import type { MemoryDatabase } from './database.ts'
import { compareKeys, pageOf } from './pages.ts'

interface StoredEndpoint {
  endpoint: WebhookEndpoint
  keys: SealedValue
  keyId: string | null
  readonly cursors: Map<UserKey, WebhookCursor>
  readonly deliveries: Map<WebhookDeliveryId, WebhookDelivery>
}

const START: WebhookCursor = { seq: 0, tryingTo: null, attempts: 0, retryAt: null }

/** The parts share their table. */
export function memoryWebhooks(db: MemoryDatabase): WebhookStore {
  const table: Table = new Map()
  return {
    endpoints: new MemoryWebhookEndpointStore(db, table),
    cursors: new MemoryWebhookCursorStore(db, table),
    deliveries: new MemoryWebhookDeliveryStore(db, table)
  }
}

type Table = Map<WebhookEndpointId, StoredEndpoint>

class MemoryWebhookEndpointStore implements WebhookEndpointStore {
  readonly #db: MemoryDatabase
  readonly #table: Table

  constructor(db: MemoryDatabase, table: Table) {
    this.#db = db
    this.#table = table
  }

  create(endpoint: WebhookEndpoint, keys: SealedValue, limit: number, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      const platform = this.#db.platforms.get(endpoint.platformId)
      if (platform === undefined || platform.disabledAt !== null || this.#of(endpoint.platformId).length >= limit) return false
      const cursors = new Map<UserKey, WebhookCursor>()
      for (const { user } of this.#db.users.values()) {
        const last = this.#db.log(user.userKey)?.last ?? 0
        if (user.platformId === endpoint.platformId && last > 0) cursors.set(user.userKey, { ...START, seq: last })
      }
      this.#table.set(endpoint.endpointId, { endpoint, keys, keyId: null, cursors, deliveries: new Map() })
      this.#db.audit.push(audit)
      return true
    })
  }

  find(platformId: PlatformId, endpointId: WebhookEndpointId): Promise<KnownWebhookEndpoint | null> {
    return this.#db.call(() => {
      const stored = this.#table.get(endpointId)
      return stored === undefined || stored.endpoint.platformId !== platformId ? null : knownOf(stored)
    })
  }

  list(platformId: PlatformId): Promise<readonly WebhookEndpoint[]> {
    return this.#db.call(() =>
      this.#of(platformId).toSorted((a, b) => compareKeys([a.createdAt, a.endpointId], [b.createdAt, b.endpointId]))
    )
  }

  active(): Promise<readonly KnownWebhookEndpoint[]> {
    return this.#db.call(() => [...this.#table.values()].filter(stored => isActive(this.#db, stored)).map(knownOf))
  }

  edit(
    endpointId: WebhookEndpointId,
    over: number,
    next: { readonly url: string; readonly description: string; readonly filter: WebhookFilter },
    audit: AuditEntry
  ): Promise<boolean> {
    return this.#change(endpointId, audit, ({ endpoint, cursors }) => {
      if (endpoint.revision !== over) return null
      endWaits(cursors)
      return { endpoint: { ...endpoint, ...next, revision: over + 1 } }
    })
  }

  setDisabled(endpointId: WebhookEndpointId, disabled: WebhookEndpoint['disabled'], audit: AuditEntry, over?: number): Promise<boolean> {
    return this.#change(endpointId, audit, ({ endpoint, cursors }) => {
      if (over !== undefined && endpoint.revision !== over) return null
      if ((endpoint.disabled === null) === (disabled === null)) return null
      if (over !== undefined && endpoint.revision !== over) return null
      if (disabled === null) endWaits(cursors)
      const failingSince = disabled === null ? null : endpoint.failingSince
      return { endpoint: { ...endpoint, disabled, failingSince, revision: endpoint.revision + 1 } }
    })
  }

  replaceKeys(endpointId: WebhookEndpointId, next: SealedValue, audit: AuditEntry): Promise<boolean> {
    return this.#change(endpointId, audit, ({ endpoint, keys }) =>
      keys.revision === next.revision - 1 ? { keys: next, keyId: null, endpoint: { ...endpoint, revision: endpoint.revision + 1 } } : null
    )
  }

  remove(endpointId: WebhookEndpointId, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      if (!this.#table.delete(endpointId)) return false
      this.#db.audit.push(audit)
      return true
    })
  }

  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly KnownWebhookEndpoint[]> {
    return this.#db.call(() =>
      [...this.#table.values()]
        .filter(stored => stored.keyId !== keyId)
        .slice(0, limit)
        .map(knownOf)
    )
  }

  rewrapped({ endpoint, keys }: KnownWebhookEndpoint, sealed: Uint8Array, keyId: string): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#table.get(endpoint.endpointId)
      if (stored === undefined || stored.keys.revision !== keys.revision || !Buffer.from(stored.keys.sealed).equals(keys.sealed))
        return false
      stored.keys = { sealed, revision: keys.revision }
      stored.keyId = keyId
      return true
    })
  }

  #of(platformId: PlatformId): readonly WebhookEndpoint[] {
    return [...this.#table.values()].map(({ endpoint }) => endpoint).filter(endpoint => endpoint.platformId === platformId)
  }

  #change(
    endpointId: WebhookEndpointId,
    audit: AuditEntry,
    next: (stored: StoredEndpoint) => Partial<StoredEndpoint> | null
  ): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#table.get(endpointId)
      const changed = stored === undefined ? null : next(stored)
      if (stored === undefined || changed === null) return false
      Object.assign(stored, changed)
      this.#db.audit.push(audit)
      return true
    })
  }
}

class MemoryWebhookCursorStore implements WebhookCursorStore {
  readonly #db: MemoryDatabase
  readonly #table: Table

  constructor(db: MemoryDatabase, table: Table) {
    this.#db = db
    this.#table = table
  }

  behind(
    partitions: ReadonlySet<Partition>,
    after: { readonly endpointId: WebhookEndpointId; readonly userKey: UserKey } | null,
    limit: number
  ): Promise<readonly WebhookBacklog[]> {
    return this.#db.call(() => {
      const isBeyond = ({ endpointId, userKey }: WebhookBacklog) =>
        after === null || compareKeys([endpointId, userKey], [after.endpointId, after.userKey]) > 0
      return [...this.#table.values()]
        .filter(stored => isActive(this.#db, stored))
        .flatMap(stored => this.#behind(stored))
        .filter(backlog => partitions.has(partitionOf(backlog.userKey)) && isBeyond(backlog))
        .toSorted((a, b) => compareKeys([a.endpointId, a.userKey], [b.endpointId, b.userKey]))
        .slice(0, limit)
    })
  }

  find(endpointId: WebhookEndpointId, userKey: UserKey): Promise<WebhookCursor | null> {
    return this.#db.call(() => (this.#db.users.has(userKey) ? (this.#table.get(endpointId)?.cursors.get(userKey) ?? null) : null))
  }

  progress({ endpointId, userKey, cursor, delivery, tried }: WebhookProgress): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#table.get(endpointId)
      if (stored === undefined || !this.#db.users.has(userKey)) return false
      const isChanged = tried !== undefined && tried.revision !== stored.endpoint.revision
      const next = isChanged ? { ...cursor, ...tried.otherwise } : cursor
      if ((stored.cursors.get(userKey)?.seq ?? 0) <= cursor.seq) stored.cursors.set(userKey, next)
      if (delivery === null) return true
      if (!stored.deliveries.has(delivery.deliveryId)) stored.deliveries.set(delivery.deliveryId, delivery)
      const { lastSuccessAt, failingSince } = stored.endpoint
      const { startedAt, failure } = delivery
      stored.endpoint =
        failure === null
          ? {
              ...stored.endpoint,
              lastSuccessAt: lastSuccessAt === null || lastSuccessAt < startedAt ? startedAt : lastSuccessAt,
              failingSince: null
            }
          : { ...stored.endpoint, failingSince: failingSince ?? startedAt }
      return true
    })
  }

  lag({ endpointId, filter }: Pick<WebhookEndpoint, 'endpointId' | 'filter'>): Promise<WebhookLag> {
    return this.#db.call(() => {
      const stored = this.#table.get(endpointId)
      const behind = stored === undefined ? [] : this.#behind(stored)
      const counted = behind.slice(0, LAG_USERS_MAX)
      const kept = counted.flatMap(({ userKey, cursor }) => this.#db.log(userKey)?.events.filter(({ seq }) => seq > cursor.seq) ?? [])
      const isFiltered = filter.topics !== null || filter.orderStatuses !== null
      const passing = (isFiltered ? kept.slice(0, LAG_EVENTS_MAX) : kept).filter(event => passes(filter, event))
      const erased = counted.filter(({ userKey, cursor }) => (this.#db.log(userKey)?.first ?? 1) > cursor.seq + 1)
      return {
        users: new Set([...passing, ...erased].map(({ userKey }) => userKey)).size,
        events: passing.length + erased.length,
        isLowerBound: behind.length > LAG_USERS_MAX || (isFiltered && kept.length > LAG_EVENTS_MAX),
        oldestAt: passing.map(({ at }) => at).sort()[0] ?? null
      }
    })
  }

  #behind({ endpoint, cursors }: StoredEndpoint): readonly WebhookBacklog[] {
    return [...this.#db.users.values()].flatMap(({ user: { userKey, userId, platformId } }) => {
      const cursor = cursors.get(userKey) ?? START
      const log = this.#db.log(userKey)
      const last = log?.last ?? 0
      if (platformId !== endpoint.platformId || last <= cursor.seq) return []
      const oldestAt = log?.events.find(({ seq }) => seq > cursor.seq)?.at ?? null
      return [{ endpointId: endpoint.endpointId, userKey, userId, cursor, last, oldestAt }]
    })
  }
}

class MemoryWebhookDeliveryStore implements WebhookDeliveryStore {
  readonly #db: MemoryDatabase
  readonly #table: Table

  constructor(db: MemoryDatabase, table: Table) {
    this.#db = db
    this.#table = table
  }

  async add(delivery: WebhookDelivery): Promise<void> {
    await this.#db.call(() => {
      const stored = this.#table.get(delivery.endpointId)
      const isThere = delivery.userKey === null || this.#db.users.has(delivery.userKey)
      if (isThere && stored !== undefined && !stored.deliveries.has(delivery.deliveryId))
        stored.deliveries.set(delivery.deliveryId, delivery)
    })
  }

  find(endpointId: WebhookEndpointId, deliveryId: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    return this.#db.call(() => this.#of(endpointId).find(delivery => delivery.deliveryId === deliveryId) ?? null)
  }

  list(endpointId: WebhookEndpointId, filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>> {
    return this.#db.call(() =>
      pageOf(
        this.#of(endpointId).filter(delivery => matches(delivery, filter)),
        page,
        ({ startedAt, deliveryId }) => [startedAt, deliveryId]
      )
    )
  }

  prune(at: Timestamp, perEndpoint: number, limit: number): Promise<number> {
    return this.#db.call(() => {
      const doomed = [...this.#table.values()].flatMap(({ deliveries }) => {
        const newest = [...deliveries.values()].toSorted((a, b) => compareKeys([b.startedAt, b.deliveryId], [a.startedAt, a.deliveryId]))
        return newest.filter(({ startedAt }, place) => startedAt < at || place >= perEndpoint)
      })
      const erased = doomed.slice(0, limit)
      for (const { endpointId, deliveryId } of erased) this.#table.get(endpointId)?.deliveries.delete(deliveryId)
      return erased.length
    })
  }

  /** Those of removed users have gone with them. */
  #of(endpointId: WebhookEndpointId): readonly WebhookDelivery[] {
    const all = [...(this.#table.get(endpointId)?.deliveries.values() ?? [])]
    return all.filter(({ userKey }) => userKey === null || this.#db.users.has(userKey))
  }
}

function isActive(db: MemoryDatabase, { endpoint }: StoredEndpoint): boolean {
  return endpoint.disabled === null && db.platforms.get(endpoint.platformId)?.disabledAt === null
}

function knownOf({ endpoint, keys }: StoredEndpoint): KnownWebhookEndpoint {
  return { endpoint, keys }
}

function matches({ userKey, messageId, failure, startedAt }: WebhookDelivery, filter: WebhookDeliveryFilter): boolean {
  const { outcome, from, to } = filter
  if (filter.userKey !== undefined && filter.userKey !== userKey) return false
  if (filter.messageId !== undefined && filter.messageId !== messageId) return false
  if (outcome !== undefined && (outcome === 'succeeded') !== (failure === null)) return false
  return (from === undefined || startedAt >= from) && (to === undefined || startedAt <= to)
}

function endWaits(cursors: Map<UserKey, WebhookCursor>): void {
  for (const [user, cursor] of cursors) cursors.set(user, { ...cursor, attempts: 0, retryAt: null })
}
