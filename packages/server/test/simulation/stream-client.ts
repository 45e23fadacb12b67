// A platform that follows users on the broker stream, come what may: it connects again, resumes or takes a snapshot, and keeps what it
// received.
import assert from 'node:assert/strict'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { UserId } from '@trunkline/core/domain/ids'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import type { ServerMessage } from '../../src/wire/stream.ts'
import type { Update } from '../../src/wire/update.ts'
import type { Chance } from './chance.ts'
import { ClientSession, type SessionOwner, type SubscribeRequest } from './client-session.ts'
import { readSnapshot } from './rest.ts'
import type { Owner, Scene } from './scene.ts'
import type { Service } from './service.ts'
import { UserRecord } from './user-record.ts'
import type { Witness } from './witness.ts'

export interface Habits {
  readonly name: string
  readonly users: readonly Owner[]
  readonly topics: readonly (readonly string[])[]
  readonly wantsStatus: boolean
  /** Asks for what it missed; otherwise it takes a snapshot each time. */
  readonly resumes: boolean
}

/** One user, as this client has it. */
interface Followed {
  readonly owner: Owner
  readonly record: UserRecord
  /** False between a subscription without `after` and the snapshot it needs. */
  isWhole: boolean
  /** Updates that came before the snapshot; null when none is waited for. */
  waiting: Update[] | null
  isWanted: boolean
  /** The user was deleted. */
  isGone: boolean
}

type Status = Extract<ServerMessage, { type: 'stream_status' }>

export class StreamClient implements SessionOwner {
  readonly name: string
  readonly topics: readonly (readonly string[])[]
  readonly wantsStatus: boolean
  readonly followed: ReadonlyMap<UserId, Followed>
  /** The newest status received of each connection. */
  readonly statuses = new Map<string, Status>()
  readonly #habits: Habits
  readonly #scene: Scene
  readonly #service: () => Service | null
  readonly #chance: Chance
  readonly #witness: Witness
  readonly #fail: (cause: unknown) => void
  #session: ClientSession | null = null
  #isConnecting = false
  #pings = 0

  constructor(
    habits: Habits,
    surroundings: {
      readonly scene: Scene
      readonly service: () => Service | null
      readonly chance: Chance
      readonly witness: Witness
      readonly fail: (cause: unknown) => void
    }
  ) {
    this.name = habits.name
    this.topics = habits.topics
    this.wantsStatus = habits.wantsStatus
    this.#habits = habits
    this.#scene = surroundings.scene
    this.#service = surroundings.service
    this.#chance = surroundings.chance
    this.#witness = surroundings.witness
    this.#fail = surroundings.fail
    this.followed = new Map(
      habits.users.map(owner => [
        owner.user.userId,
        { owner, record: new UserRecord(), isWhole: false, waiting: null, isWanted: true, isGone: false }
      ])
    )
  }

  get credentials() {
    return { client_id: this.#scene.platform.clientId, client_secret: this.#scene.clientSecret }
  }

  get session(): ClientSession | null {
    return this.#session
  }

  /** Whether it has everything it wants. */
  get isSettled(): boolean {
    const session = this.#session
    if (session === null || !session.isAtRest) return false
    return [...this.followed.values()].every(({ owner, isWhole, isWanted }) =>
      isWanted ? isWhole && session.following.has(owner.user.userId) : !session.following.has(owner.user.userId)
    )
  }

  /** Connects, now or as soon as the service takes it. */
  connect(): void {
    if (this.#isConnecting || this.#session?.isOver === false) return
    this.#isConnecting = true
    void this.#connect()
  }

  /** Leaves and comes back after a while. */
  leave(isNoticed: boolean): void {
    const session = this.#session
    if (session === null || session.isOver) return
    this.note(`${this.name} ${isNoticed ? 'leaves' : 'vanishes'}`)
    if (isNoticed) session.leave()
    else session.vanish()
    this.closed(session, 1000)
  }

  /** Reads nothing, until the end that it gives. */
  pause(): () => void {
    const session = this.#session
    session?.read(false)
    return () => session?.read(true)
  }

  /** Reads from here on, and follows every user there is. */
  goOn(): void {
    const session = this.#session
    session?.read(true)
    for (const followed of this.followed.values()) {
      if (followed.isWanted || followed.isGone) continue
      followed.isWanted = true
      if (session?.isKnown === true) this.#subscribe(session, followed)
    }
  }

  /** Asks once more for a user it has: from what it knows already, or again from some number on. */
  repeat(userId: UserId): void {
    const [session, followed] = [this.#session, this.followed.get(userId)]
    if (session?.isKnown !== true || followed === undefined || !followed.isWanted || session.isAsking(userId)) return
    const { since, position } = followed.record
    const fromStart = position !== null && followed.isWhole && this.#chance.happens(0.6)
    session.subscribeUser(userId, fromStart ? this.#chance.whole(since, position) : null)
  }

  /** Stops following a user, or begins again. */
  toggle(userId: UserId): void {
    const [session, followed] = [this.#session, this.followed.get(userId)]
    if (session?.isKnown !== true || followed === undefined || session.isAsking(userId)) return
    followed.isWanted = !followed.isWanted
    this.note(`${this.name} ${followed.isWanted ? 'wants' : 'does not want'} ${userId}`)
    if (followed.isWanted) this.#subscribe(session, followed)
    else session.unsubscribeUser(userId)
  }

  ping(): void {
    this.#pings += 1
    if (this.#session?.isKnown === true) this.#session.ping(this.#pings)
  }

  babble(): void {
    if (this.#session?.isKnown === true) this.#session.babble()
  }

  note(what: string): void {
    this.#scene.trace.note(what)
  }

  mix(text: string): void {
    this.#scene.trace.mix(`${this.name} ${text}`)
  }

  authenticated(session: ClientSession): void {
    for (const followed of this.followed.values()) if (followed.isWanted) this.#subscribe(session, followed)
  }

  subscribed(userId: UserId, seq: number, { after, isRepeat }: SubscribeRequest): void {
    const followed = this.#followed(userId)
    const { record } = followed
    if (after !== null) {
      // From the beginning of the log there is nothing that it does not hold.
      if (record.position === null) record.begin(after)
      followed.isWhole = true
      record.position = after
      return
    }
    if (isRepeat) {
      if (this.#hasAllTopics) assert.equal(seq, record.position, `${this.name} received where ${userId} stands`)
      return
    }
    record.begin(seq)
    followed.isWhole = false
    followed.waiting = []
    void this.#takeSnapshot(followed, this.#session)
  }

  update(update: Update, text: string): void {
    const followed = this.#followed(update.user_id as UserId)
    const { record, owner } = followed
    const { seq } = update
    assert.ok(record.position !== null)
    const at = `${this.name} was at ${record.position} of ${owner.user.userId} and got ${seq}`
    if (this.#hasAllTopics) assert.equal(seq, record.position + 1, at)
    else assert.ok(seq > record.position, at)
    const stored = this.#scene.store.committed.get(owner.user.userKey) ?? 0
    assert.ok(seq <= stored, `${this.name} got ${seq} of ${owner.user.userId}, and the store has ${stored}`)
    const before = record.received.get(seq)
    if (before !== undefined) assert.equal(text, before, `${seq} of ${owner.user.userId} was delivered in two versions`)
    record.received.set(seq, text)
    record.position = seq
    if (update.type === 'orders') this.#witness.saw(owner.user.userId, update.data)
    if (followed.waiting === null) record.apply(update)
    else followed.waiting.push(update)
  }

  caughtUp(userId: UserId, seq: number): void {
    const { record } = this.#followed(userId)
    if (this.#hasAllTopics) assert.equal(seq, record.position, `${this.name} was notified that it caught up with ${userId}`)
    else assert.ok(seq >= (record.position ?? 0), `${this.name} caught up with ${userId} at ${seq}, and was at ${record.position}`)
    record.position = seq
    this.#scene.trace.met('replayed')
  }

  refused(userId: UserId, message: string, { isRepeat }: SubscribeRequest): void {
    const followed = this.#followed(userId)
    if (/no user/.test(message)) {
      this.#gone(followed)
      return
    }
    this.#scene.trace.met(/snapshot/.test(message) ? 'refused: take a snapshot' : 'refused: try again')
    if (isRepeat) return
    // What is not kept any more is not worth asking for again.
    if (/snapshot/.test(message)) followed.isWhole = false
    this.#later(session => {
      if (followed.isWanted && !session.following.has(userId) && !session.isAsking(userId)) this.#subscribe(session, followed)
    })
  }

  unsubscribed(userId: UserId, isRequested: boolean): void {
    const followed = this.#followed(userId)
    if (!isRequested) this.#gone(followed)
    if (followed.waiting !== null) followed.isWhole = false
    followed.waiting = null
  }

  status(message: Status): void {
    this.note(`${this.name}: ${message.connection_id} is ${message.health} (${message.reason})`)
    this.statuses.set(message.connection_id, message)
  }

  closed(session: ClientSession, code: number): void {
    if (this.#session !== session) return
    this.#session = null
    this.#scene.trace.met(`closed: ${code}`)
    for (const followed of this.followed.values()) followed.waiting = null
    this.connect()
  }

  failed(cause: unknown): void {
    this.#fail(cause)
  }

  get #hasAllTopics(): boolean {
    return this.topics.some(topics => topics.includes('all'))
  }

  async #connect(): Promise<void> {
    for (;;) {
      await this.#scene.clock.sleep(this.#chance.whole(10, 3_000))
      const session = new ClientSession(this)
      const connection = this.#service()?.connect(session) ?? null
      if (connection === null) continue
      this.note(`${this.name} connects`)
      this.#isConnecting = false
      this.#session = session
      session.begin(connection)
      return
    }
  }

  #subscribe(session: ClientSession, { owner, record, isWhole }: Followed): void {
    const isNew = record.position === null
    const after = isWhole && this.#habits.resumes ? record.position : isNew && this.#habits.resumes ? 0 : null
    session.subscribeUser(owner.user.userId, after)
  }

  /** What must be done again, if the session is still there then. */
  #later(work: (session: ClientSession) => void): void {
    const session = this.#session
    void this.#scene.clock.sleep(1_000).then(() => {
      if (session !== null && this.#session === session && session.isKnown) work(session)
    })
  }

  async #takeSnapshot(followed: Followed, session: ClientSession | null): Promise<void> {
    const { waiting, owner } = followed
    while (waiting !== null && followed.waiting === waiting && this.#session === session) {
      const service = this.#service()
      try {
        if (service === null || service.life.isOver) throw new StoreUnavailable('the service is not there')
        const snapshot = await readSnapshot(service, owner, this.#scene.doomed)
        if (followed.waiting !== waiting) return
        followed.record.adopt(snapshot)
        for (const update of waiting) followed.record.apply(update)
        followed.waiting = null
        followed.isWhole = true
        this.note(`${this.name} has a snapshot of ${owner.user.userId}`)
        return
      } catch (cause) {
        if (!isPassing(cause)) {
          this.#fail(cause)
          return
        }
        await this.#scene.clock.sleep(1_000)
      }
    }
  }

  #gone(followed: Followed): void {
    const { user } = followed.owner
    assert.ok(this.#scene.doomed.has(user.userKey), `${this.name} was notified that ${user.userId} is gone`)
    this.note(`${this.name} sees that ${user.userId} is gone`)
    followed.isGone = true
    followed.isWanted = false
  }

  #followed(userId: UserId): Followed {
    const followed = this.followed.get(userId)
    assert.ok(followed !== undefined, `${this.name} never asked for ${userId}`)
    return followed
  }
}

/** The error of a platform when something fails that may go well the next time. */
export function isPassing(cause: unknown): boolean {
  return cause instanceof ServiceError || cause instanceof StoreUnavailable || cause instanceof CommitUnknown
}
