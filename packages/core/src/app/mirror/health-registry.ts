import type { Connection, ConnectionHealth } from '../../domain/account.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import { isOwned } from '../owned-users.ts'
import { UNFOLLOWED } from './health-reasons.ts'

/** Most connections without a mirror whose health is remembered. */
const OTHERS_MAX = 20_000

/** A health, and which of all changes of any connection's it came with. */
export interface KnownHealth {
  readonly userKey: UserKey
  readonly connectionId: ConnectionId
  readonly health: ConnectionHealth
  readonly change: number
}

/** What decides the health of a connection that nothing was found about. */
export type HealthSubject = Pick<Connection, 'connectionId' | 'status' | 'brokenReason' | 'createdAt' | 'updatedAt'>

type FollowedState = Exclude<ConnectionHealth['state'], 'broken'>

/** The health of each connection, and since when. Publishes every change on the bus. */
export class HealthRegistry {
  readonly #deps: Pick<Deps, 'bus' | 'clock' | 'ownership'>
  readonly #startedAt: Timestamp
  readonly #followed = new Map<ConnectionId, KnownHealth>()
  readonly #others = new Map<ConnectionId, KnownHealth>()
  #changes = 0
  readonly #unsubscribe: () => void

  constructor(deps: Pick<Deps, 'bus' | 'clock' | 'ownership'>) {
    this.#deps = deps
    this.#startedAt = deps.clock.now()
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        if (message.type === 'connection_removed') this.#forget(message.connectionId)
        if (message.type === 'connection_renewed' && message.wasBroken) this.#recover(message)
        if (message.type === 'connection_health' && message.health.state === 'broken') this.#break(message)
      },
      ['connection_removed', 'connection_renewed', 'connection_health']
    )
  }

  of({ connectionId, status, brokenReason, createdAt, updatedAt }: HealthSubject): ConnectionHealth {
    if (status === 'BROKEN') return { state: 'broken', since: updatedAt, reason: brokenReason }
    const since = createdAt > this.#startedAt ? createdAt : this.#startedAt
    return (this.#followed.get(connectionId) ?? this.#others.get(connectionId))?.health ?? { state: 'polling', since, reason: UNFOLLOWED }
  }

  /** How many changes there were. */
  get changes(): number {
    return this.#changes
  }

  /** The last change of each connection. */
  *known(): Iterable<KnownHealth> {
    yield* this.#followed.values()
    yield* this.#others.values()
  }

  /** Records the state reported by a mirror. `reason` is why it is not live. */
  followed(connection: Connection, state: FollowedState, reason: string | null): void {
    const { connectionId } = connection
    const before = this.of(connection)
    if (before.state === 'broken') return
    const isKnown = this.#followed.has(connectionId)
    if (isKnown && before.state === state && before.reason === reason) return
    const health = this.#next(before, state, reason)
    this.#others.delete(connectionId)
    this.#followed.set(connectionId, this.#changed(connection, health))
    this.#publish(connection, health)
  }

  /** The mirror has ended: from now on reads call the broker. */
  unfollowed(connection: Connection): void {
    const before = this.#followed.get(connection.connectionId)
    if (before === undefined) return
    this.#followed.delete(connection.connectionId)
    this.#note(connection, before.health, 'polling', UNFOLLOWED)
  }

  /** Records the result of a read without a mirror; ignored if there is a mirror. Null: the broker answered. */
  read(connection: Connection, failure: string | null): void {
    const before = this.of(connection)
    if (before.state === 'broken' || this.#followed.has(connection.connectionId)) return
    if (failure !== null) this.#note(connection, before, 'stale', failure)
    else if (before.state === 'stale') this.#note(connection, before, 'polling', UNFOLLOWED)
  }

  /** The number of mirrored connections in this state. */
  count(state: ConnectionHealth['state']): number {
    let count = 0
    for (const { health } of this.#followed.values()) if (health.state === state) count += 1
    return count
  }

  stop(): void {
    this.#unsubscribe()
  }

  #note(connection: Connection, before: ConnectionHealth, state: FollowedState, reason: string): void {
    if (before.state === state && before.reason === reason) return
    const health = this.#next(before, state, reason)
    setBounded(this.#others, connection.connectionId, this.#changed(connection, health), OTHERS_MAX)
    this.#publish(connection, health)
  }

  #next(before: ConnectionHealth, state: FollowedState, reason: string | null): ConnectionHealth {
    return { state, since: before.state === state ? before.since : this.#deps.clock.now(), reason }
  }

  #break(broken: Pick<KnownHealth, 'userKey' | 'connectionId' | 'health'>): void {
    this.#followed.delete(broken.connectionId)
    setBounded(this.#others, broken.connectionId, this.#changed(broken, broken.health), OTHERS_MAX)
  }

  #changed({ userKey, connectionId }: Pick<Connection, 'connectionId' | 'userKey'>, health: ConnectionHealth): KnownHealth {
    this.#changes += 1
    return { userKey, connectionId, health, change: this.#changes }
  }

  /** The login was renewed: reads call the broker again, until a mirror reports otherwise. The owner publishes it, for all nodes. */
  #recover(connection: Pick<Connection, 'connectionId' | 'userKey'>): void {
    const { connectionId } = connection
    if (this.#followed.has(connectionId)) return
    const health: ConnectionHealth = { state: 'polling', since: this.#deps.clock.now(), reason: UNFOLLOWED }
    setBounded(this.#others, connectionId, this.#changed(connection, health), OTHERS_MAX)
    if (isOwned(this.#deps.ownership, connection.userKey)) this.#publish(connection, health)
  }

  #forget(connectionId: ConnectionId): void {
    this.#followed.delete(connectionId)
    this.#others.delete(connectionId)
  }

  #publish({ connectionId, userKey }: Pick<Connection, 'connectionId' | 'userKey'>, health: ConnectionHealth): void {
    // The end of a mirror may come late: by then the next owner has reported what it sees.
    if (this.#deps.ownership.ownerOf(userKey).kind === 'other') return
    this.#deps.bus.publish({ type: 'connection_health', userKey, connectionId, health })
  }
}
