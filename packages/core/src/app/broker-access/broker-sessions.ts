import type { Connection } from '../../domain/account.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import type { BrokenCode } from '../../domain/vocabulary.ts'
import { type Broker, BrokerFault } from '../../ports/broker.ts'
import type { AuditEntry } from '../../ports/store.ts'
import { SealBroken } from '../../ports/vault.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import { isOwned, mayFinish } from '../owned-users.ts'
import { limited } from '../time-limits.ts'
import { CheckedBroker } from './checked-broker.ts'
import { StoredCredentials } from './credentials.ts'
import { changedMessage, endpointOf, isSameEndpoint } from './endpoints.ts'
import { PartialLists } from './partial-lists.ts'

/**
 * Most removed and broken connections remembered, so that calls still in flight for one neither open its session again nor publish its end
 * twice.
 */
const ENDED_MAX = 20_000
/**
 * After a renewal the old session stays open this long for calls in flight. During that time a rejection may concern the old credentials,
 * so it breaks the connection only if the broker rejects the new ones too.
 */
const RETIRED_MS = 60_000
/** A session without a mirror that is unused for this long is closed; far longer than any call to a broker may take. */
const IDLE_MS = 600_000

interface Open {
  readonly userKey: UserKey
  /** Under which it was opened, and commands. */
  readonly fence: number
  readonly session: Broker
  usedAt: number
}

/** The open broker sessions, one per connection. The only place that marks a connection as broken. */
export class BrokerSessions implements AsyncDisposable {
  readonly partialLists: PartialLists
  readonly #deps: Deps
  readonly #open = new Map<ConnectionId, Open>()
  readonly #removed = new Map<ConnectionId, true>()
  readonly #publishedBroken = new Map<ConnectionId, true>()
  /** Sessions with replaced credentials, and the timers that close them. */
  readonly #retired = new Map<Broker, Disposable>()
  /** When connections were renewed (monotonic clock). */
  readonly #renewed = new Map<ConnectionId, number>()
  /** Checks in progress whether the broker accepts a renewed login. */
  readonly #checks = new Map<ConnectionId, Promise<boolean>>()
  /** Connections whose streams use their login, and how many hold it. */
  readonly #retained = new Map<ConnectionId, number>()
  readonly #unsubscribe: () => void

  constructor(deps: Deps) {
    this.#deps = deps
    this.partialLists = new PartialLists(deps.clock)
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        if (message.type === 'connection_renewed') this.#retire(message.connectionId)
        if (message.type !== 'connection_removed') return
        setBounded(this.#removed, message.connectionId, true, ENDED_MAX)
        this.partialLists.forget(message.connectionId)
        void this.close(message.connectionId)
      },
      ['connection_removed', 'connection_renewed']
    )
  }

  /**
   * The connection's session, opened on first use. @throws BrokerFault `refused` if this node does not offer the broker, the login was made
   * at another endpoint, or the connection is gone; `unreachable` while another node owns the user, or if one may have done so since this
   * one had `under`.
   */
  get(connection: Connection, under: number | null = this.#deps.ownership.fenceOf(connection.userKey)): Broker {
    const { userKey } = connection
    const fence = this.#deps.ownership.fenceOf(userKey)
    if (fence === null || fence !== under) throw new BrokerFault('unreachable', 'another node of the service is to do this')
    // Its commands would be sent under a fence that has passed.
    if ((this.#open.get(connection.connectionId)?.fence ?? fence) !== fence) this.#replace(connection.connectionId)
    const known = this.#open.get(connection.connectionId)
    const usedAt = this.#deps.clock.monotonicMs()
    if (known !== undefined) {
      known.usedAt = usedAt
      return known.session
    }
    if (this.#removed.has(connection.connectionId)) throw new BrokerFault('refused', 'the connection was deleted')
    const definition = this.#deps.brokers.get(connection.broker)
    if (definition === undefined) throw new BrokerFault('refused', `${connection.broker} is not offered here; see TRUNKLINE_BROKERS`)
    const endpoint = endpointOf(definition)
    if (connection.endpoint === null || !isSameEndpoint(connection.endpoint, endpoint))
      throw new BrokerFault('refused', changedMessage(connection.endpoint, endpoint))
    const opened = definition.open(new StoredCredentials(this.#deps, connection, endpoint))
    const session = new CheckedBroker(opened, { ...this.#deps, connection, partialLists: this.partialLists })
    this.#open.set(connection.connectionId, { userKey, fence, session, usedAt })
    return session
  }

  /**
   * Must be called with every fault of a session. Only a definitive rejection of the credentials breaks the connection. Returns whether the
   * connection is broken or gone.
   */
  async reportFault(connection: Connection, fault: unknown): Promise<boolean> {
    if (this.#removed.has(connection.connectionId)) return true
    if (!isRejection(fault)) return false
    if (this.#isJustRenewed(connection) && !(await this.#isStillRejected(connection))) return false
    const code: BrokenCode = fault.cause instanceof SealBroken ? 'credentials_altered' : 'credentials_rejected'
    const at = this.#deps.clock.now()
    const { connectionId, broker } = connection
    const entry: AuditEntry = {
      at,
      actor: 'service',
      action: 'connection.break',
      target: connectionId,
      result: 'ok',
      ip: null,
      requestId: null,
      detail: { broker, reason: code }
    }
    const { connections } = this.#deps.store
    const isNew = await connections.markBroken(connectionId, fault.message, at, entry, code)
    // It was renewed meanwhile, and the renewal was stored last.
    if (this.#isJustRenewed(connection) && (await connections.find(connectionId))?.status === 'ACTIVE') return false
    if (isNew) {
      if (code === 'credentials_altered') {
        this.#deps.log.error('ALARM: stored credentials were altered, moved or rolled back; they were not used', { connectionId, broker })
        this.#deps.meter.count('seals_broken_total', { broker })
      } else this.#deps.log.warn('connection broken: the broker rejected its credentials', { connectionId, broker })
      this.#deps.meter.count('connections_broken_total', { broker })
    }
    if (!this.#publishedBroken.has(connectionId))
      this.#publishBroken(
        isNew ? { ...connection, brokenCode: code, brokenReason: fault.message, updatedAt: at } : await connections.find(connectionId)
      )
    return true
  }

  /**
   * Whether the broker rejects the present credentials: a rejection from before the renewal does not show that. Checked once for all
   * callers.
   */
  #isStillRejected(connection: Connection): Promise<boolean> {
    const { connectionId } = connection
    const { clock, timing } = this.#deps
    const check =
      this.#checks.get(connectionId) ??
      limited(clock, timing.readMs, async signal => await this.get(connection).accounts(signal))
        .then(() => false, isRejection)
        .finally(() => this.#checks.delete(connectionId))
    this.#checks.set(connectionId, check)
    return check
  }

  #isJustRenewed({ connectionId }: Connection): boolean {
    const renewedAt = this.#renewed.get(connectionId)
    if (renewedAt === undefined) return false
    if (this.#deps.clock.monotonicMs() - renewedAt < RETIRED_MS) return true
    this.#renewed.delete(connectionId)
    return false
  }

  /** Retires the open session: the next caller gets one with the new credentials. */
  #retire(connectionId: ConnectionId): void {
    setBounded(this.#renewed, connectionId, this.#deps.clock.monotonicMs(), ENDED_MAX)
    this.#publishedBroken.delete(connectionId)
    this.#replace(connectionId)
  }

  /** The session ends when the calls in flight have; the next caller gets another. */
  #replace(connectionId: ConnectionId): void {
    const session = this.#open.get(connectionId)?.session
    this.#open.delete(connectionId)
    if (session === undefined) return
    const alarm = this.#deps.clock.alarm(RETIRED_MS, () => {
      this.#retired.delete(session)
      void this.#dispose(connectionId, session)
    })
    this.#retired.set(session, alarm)
  }

  /** Publishes a break that may be stored but not published: the write was not confirmed, or another node was first. */
  #publishBroken(connection: Connection | null): void {
    if (connection === null) return
    const { connectionId, userKey, updatedAt, brokenReason } = connection
    setBounded(this.#publishedBroken, connectionId, true, ENDED_MAX)
    this.#deps.bus.publish({
      type: 'connection_health',
      userKey,
      connectionId,
      health: { state: 'broken', since: updatedAt, reason: brokenReason }
    })
    this.#deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
  }

  /** Logins open now. */
  get count(): number {
    return this.#open.size
  }

  /** Keeps the connection's login open while streams use it, until the result is disposed of. */
  retain(connectionId: ConnectionId): Disposable {
    this.#retained.set(connectionId, (this.#retained.get(connectionId) ?? 0) + 1)
    let isReleased = false
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return
        isReleased = true
        const left = (this.#retained.get(connectionId) ?? 1) - 1
        if (left === 0) this.#retained.delete(connectionId)
        else this.#retained.set(connectionId, left)
      }
    }
  }

  /** Closes the logins that were not used for a while and that no stream retains. */
  async closeIdle(): Promise<void> {
    const before = this.#deps.clock.monotonicMs() - IDLE_MS
    const idle = [...this.#open].filter(([connectionId, { usedAt }]) => usedAt <= before && !this.#retained.has(connectionId))
    await Promise.all(idle.map(([connectionId]) => this.close(connectionId)))
  }

  /** Closes the sessions of users that this node does not own any more. */
  async closeUnowned(): Promise<void> {
    const { ownership } = this.#deps
    const left = [...this.#open].filter(([, { userKey, fence }]) => !isOwned(ownership, userKey) || !mayFinish(ownership, userKey, fence))
    await Promise.all(left.map(([connectionId]) => this.close(connectionId)))
  }

  async close(connectionId: ConnectionId): Promise<void> {
    const known = this.#open.get(connectionId)
    this.#open.delete(connectionId)
    if (known !== undefined) await this.#dispose(connectionId, known.session)
  }

  async #dispose(connectionId: ConnectionId, session: Broker): Promise<void> {
    try {
      await session[Symbol.asyncDispose]()
    } catch (cause) {
      this.#deps.log.warn('a broker session did not close cleanly', { connectionId, cause })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe()
    for (const alarm of this.#retired.values()) alarm[Symbol.dispose]()
    await Promise.allSettled([...this.#retired.keys()].map(session => session[Symbol.asyncDispose]()))
    await Promise.all([...this.#open.keys()].map(connectionId => this.close(connectionId)))
  }
}

function isRejection(fault: unknown): fault is BrokerFault {
  return fault instanceof BrokerFault && fault.kind === 'credentials_rejected'
}
