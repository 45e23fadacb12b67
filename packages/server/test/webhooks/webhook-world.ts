// Endpoints, users and their logs in memory, with the fences that keep a former owner from writing.
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { User } from '@trunkline/core/domain/account'
import type { Brand } from '@trunkline/core/domain/brand'
import { type AccountId, type ConnectionId, type PlatformId, parseUserId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import type { WebhookCursor, WebhookEndpoint, WebhookFilter } from '@trunkline/core/domain/webhook'
import type { OwnershipListener } from '@trunkline/core/ports/ownership'
import { type LoggedEvent, StoreUnavailable } from '@trunkline/core/ports/store'
import type { KnownWebhookEndpoint, WebhookBacklog, WebhookDelivery, WebhookProgress } from '@trunkline/core/ports/webhook-store'
import { PlainVault } from '@trunkline/testkit/plain-vault'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { type SenderDeps, type SenderLimits, WebhookSender } from '../../src/webhooks/sender.ts'
import { newWebhookKeys, sealWebhookKeys } from '../../src/webhooks/signing-keys.ts'

export const EVERYTHING: WebhookFilter = { topics: null, orderStatuses: null }
export const RECEIVED: WebhookOutcome = { answer: { status: 204, body: '', isCut: false }, failure: null, retryAfter: null }
export const REFUSED: WebhookOutcome = { answer: { status: 503, body: '', isCut: false }, failure: 'status', retryAfter: null }
export const SILENT: WebhookOutcome = { answer: null, failure: 'timeout', retryAfter: null }

const log = { debug() {}, info() {}, warn() {}, error() {} }

let counted = 0
export function uuidOf<Id extends Brand<string, string>>(): Id {
  counted += 1
  return parseUuid<Id>(`00000000-0000-7000-8000-${counted.toString(16).padStart(12, '0')}`, 'id')
}

export class WebhookWorld {
  readonly clock = new VirtualClock()
  readonly vault = new PlainVault()
  readonly platformId = uuidOf<PlatformId>()
  readonly users = new Map<UserKey, User>()
  readonly logs = new Map<UserKey, LoggedEvent[]>()
  readonly lasts = new Map<UserKey, number>()
  readonly endpoints = new Map<string, KnownWebhookEndpoint>()
  readonly cursors = new Map<string, WebhookCursor>()
  readonly deliveries: WebhookDelivery[] = []
  /** Cursors that moved back, which the contract of the store forbids to ask for. */
  movedBack = 0
  logReads = 0
  /** What the last read of a log was limited to. */
  bytesMax: number | null = null
  /** What progress waits for before it is written; it may throw. */
  beforeWrite: () => Promise<void> = async () => {}
  owner: WebhookNode | null = null
  isDown = false

  addUser(platformId = this.platformId): UserKey {
    const userKey = uuidOf<UserKey>()
    const user = { userKey, platformId, userId: parseUserId(`user-${this.users.size}`), createdAt: this.clock.now() }
    this.users.set(userKey, user)
    this.logs.set(userKey, [])
    this.lasts.set(userKey, 0)
    return userKey
  }

  addEndpoint(url: string, filter = EVERYTHING, platformId = this.platformId): WebhookEndpoint {
    const endpoint: WebhookEndpoint = {
      ...{ endpointId: uuidOf(), platformId, url, description: '', filter, createdAt: this.clock.now() },
      ...{ disabled: null, lastSuccessAt: null, failingSince: null, revision: 1 }
    }
    this.endpoints.set(endpoint.endpointId, { endpoint, keys: sealWebhookKeys(this.vault, endpoint, newWebhookKeys(), 1) })
    for (const [userKey, last] of this.lasts) this.cursors.set(keyOf(endpoint.endpointId, userKey), { ...NO_CURSOR, seq: last })
    return endpoint
  }

  change(endpoint: WebhookEndpoint, next: Partial<WebhookEndpoint>): void {
    const known = this.endpoints.get(endpoint.endpointId)
    if (known === undefined) return
    const changed = { ...known.endpoint, ...next, revision: known.endpoint.revision + 1 }
    this.endpoints.set(endpoint.endpointId, { ...known, endpoint: changed })
    if (next.disabled !== undefined && next.disabled !== null) return
    for (const [key, cursor] of this.cursors)
      if (key.startsWith(endpoint.endpointId)) this.cursors.set(key, { ...cursor, attempts: 0, retryAt: null })
  }

  /** Commits an event, and publishes it at its owner. */
  commit(userKey: UserKey, topic: 'positions' | 'balances' = 'positions'): void {
    const seq = (this.lasts.get(userKey) ?? 0) + 1
    const accountId = uuidOf<AccountId>()
    const at = this.clock.now()
    const common = { eventId: uuidOf<LoggedEvent['eventId']>(), userKey, seq, accountId, at }
    const account = { connectionId: uuidOf<ConnectionId>(), accountNumber: 'A1' }
    const amounts = { cash: null, buyingPower: null, initialMargin: null, maintenanceMargin: null, regTBuyingPower: null }
    const balance = { accountId, currency: 'USD', ...amounts, equity: null, marketValue: null, systemTime: at }
    const event: LoggedEvent =
      topic === 'positions' ? { ...common, topic, data: [], ...account } : { ...common, topic, data: balance, ...account }
    this.lasts.set(userKey, seq)
    this.logs.get(userKey)?.push(event)
    this.owner?.bus.publish({ type: 'events', userKey, events: [event] })
  }

  /** Nobody hears of what is committed in it. */
  unheard(work: () => void): void {
    const { owner } = this
    this.owner = null
    work()
    this.owner = owner
  }

  /** Retention erases all but the newest events. */
  erase(userKey: UserKey, kept: number): void {
    const events = this.logs.get(userKey) ?? []
    this.logs.set(userKey, kept === 0 ? [] : events.slice(-kept))
  }

  cursor(endpoint: WebhookEndpoint, userKey: UserKey): WebhookCursor {
    return this.cursors.get(keyOf(endpoint.endpointId, userKey)) ?? NO_CURSOR
  }

  assertUp(): void {
    if (this.isDown) throw new StoreUnavailable('the store is down')
  }

  /** What a node sees of the store. */
  webhooksOf(node: WebhookNode): SenderDeps['webhooks'] {
    return {
      endpoints: {
        ...unused,
        active: async () => {
          this.assertUp()
          return [...this.endpoints.values()].filter(({ endpoint }) => endpoint.disabled === null)
        },
        setDisabled: async (endpointId, disabled, _, over) => {
          const known = this.endpoints.get(endpointId)
          if (known === undefined || (over !== undefined && known.endpoint.revision !== over)) return false
          this.change(known.endpoint, { disabled })
          return true
        }
      },
      cursors: {
        ...unused,
        find: async (endpointId, userKey) => {
          this.assertUp()
          return this.cursors.get(keyOf(endpointId, userKey)) ?? null
        },
        behind: async (_, after, limit) => {
          this.assertUp()
          return this.#behind(after === null ? '' : keyOf(after.endpointId, after.userKey), limit)
        },
        progress: async step => this.#progress(node, step)
      }
    }
  }

  readonly store: SenderDeps['store'] = {
    users: { findByKey: async userKey => this.users.get(userKey) ?? null },
    events: {
      read: async (userKey, after, limit, bytesMax) => {
        this.logReads += 1
        this.bytesMax = bytesMax ?? null
        return (this.logs.get(userKey) ?? []).filter(({ seq }) => seq > after).slice(0, limit)
      },
      span: async userKey => {
        const last = this.lasts.get(userKey) ?? 0
        return { oldest: this.logs.get(userKey)?.[0]?.seq ?? last + 1, last }
      }
    }
  }

  #behind(after: string, limit: number): readonly WebhookBacklog[] {
    const found: WebhookBacklog[] = []
    for (const { endpoint } of this.endpoints.values()) {
      if (endpoint.disabled !== null) continue
      for (const { userKey, userId, platformId } of this.users.values()) {
        if (platformId !== endpoint.platformId) continue
        const last = this.lasts.get(userKey) ?? 0
        const cursor = this.cursor(endpoint, userKey)
        const oldestAt = this.logs.get(userKey)?.find(({ seq }) => seq > cursor.seq)?.at ?? null
        if (cursor.seq < last) found.push({ endpointId: endpoint.endpointId, userKey, userId, cursor, last, oldestAt })
      }
    }
    const key = (item: WebhookBacklog) => keyOf(item.endpointId, item.userKey)
    return found
      .filter(item => key(item) > after)
      .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, limit)
  }

  async #progress(node: WebhookNode, { endpointId, userKey, cursor, delivery, tried }: WebhookProgress): Promise<boolean> {
    this.assertUp()
    await this.beforeWrite()
    if (this.owner !== node) throw new StoreUnavailable('another node owns the user')
    const known = this.endpoints.get(endpointId)
    if (known === undefined || !this.users.has(userKey)) return false
    const isChanged = tried !== undefined && tried.revision !== known.endpoint.revision
    const key = keyOf(endpointId, userKey)
    if ((this.cursors.get(key)?.seq ?? 0) > cursor.seq) this.movedBack += 1
    else this.cursors.set(key, isChanged ? { ...cursor, ...tried.otherwise } : cursor)
    if (delivery !== null) this.deliveries.push(delivery)
    return true
  }
}

/** A node: its sender, and the ownership of all partitions or of none. */
export class WebhookNode {
  readonly bus = new LocalBus(log)
  readonly sender: WebhookSender
  readonly #world: WebhookWorld
  #listener: OwnershipListener | null = null

  constructor(
    world: WebhookWorld,
    exchange: (request: WebhookRequest) => Promise<WebhookOutcome>,
    { fraction = () => 0.5, limits = {} }: { fraction?: () => number; limits?: Partial<SenderLimits> } = {}
  ) {
    this.#world = world
    this.sender = new WebhookSender(
      {
        ...{ webhooks: world.webhooksOf(this), store: world.store, bus: this.bus, clock: world.clock, vault: world.vault, log, exchange },
        ids: { uuid: uuidOf, secret: prefix => prefix, fraction },
        meter: { count() {} },
        ownership: {
          listen: listener => {
            this.#listener = listener
            return () => (this.#listener = null)
          }
        }
      },
      limits
    )
  }

  /** Owns every partition from now on. */
  async own(): Promise<void> {
    this.#world.owner = this
    if (this.#listener === null) await this.sender.start()
    this.#listener?.gained(EVERY_PARTITION)
  }

  /** Ends its work for all partitions. */
  async release(): Promise<void> {
    await this.#listener?.release(EVERY_PARTITION)
    if (this.#world.owner === this) this.#world.owner = null
  }
}

export const NO_CURSOR: WebhookCursor = { seq: 0, tryingTo: null, attempts: 0, retryAt: null }
const EVERY_PARTITION: ReadonlySet<Partition> = new Set(ALL_PARTITIONS)

const never = async () => {
  throw new Error('the sender does not call it')
}
const unused = {
  ...{ create: never, find: never, list: never, edit: never, replaceKeys: never, remove: never },
  ...{ sealedUnderOtherKeys: never, rewrapped: never, lag: never }
}

function keyOf(endpointId: string, userKey: string): string {
  return `${endpointId}/${userKey}`
}
