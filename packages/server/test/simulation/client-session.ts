// One connection of a platform to the broker stream, which holds the service to every promise of the protocol.
import assert from 'node:assert/strict'
import type { UserId } from '@trunkline/core/domain/ids'
import type { ServerMessage } from '../../src/wire/stream.ts'
import type { Update } from '../../src/wire/update.ts'
import type { SceneConnection, WireEnd } from './scene-connection.ts'

/** Whose connection it is, and what becomes of its messages. */
export interface SessionOwner {
  readonly name: string
  readonly credentials: { readonly client_id: string; readonly client_secret: string }
  readonly wantsStatus: boolean
  /** What each subscription asks for; the first follows the authentication. */
  readonly topics: readonly (readonly string[])[]
  note(what: string): void
  mix(text: string): void
  authenticated(session: ClientSession): void
  /** What comes from here on comes after `seq`. */
  subscribed(userId: UserId, seq: number, requested: SubscribeRequest): void
  update(update: Update, text: string): void
  caughtUp(userId: UserId, seq: number): void
  refused(userId: UserId, message: string, requested: SubscribeRequest): void
  /** Not asked: the user was deleted. */
  unsubscribed(userId: UserId, isRequested: boolean): void
  status(message: Extract<ServerMessage, { type: 'stream_status' }>): void
  closed(session: ClientSession, code: number): void
  failed(cause: unknown): void
}

/** A `subscribe_user` under way. */
export interface SubscribeRequest {
  readonly after: number | null
  /** The session had the user already. */
  readonly isRepeat: boolean
}

export class ClientSession implements WireEnd {
  readonly #owner: SessionOwner
  #connection: SceneConnection | null = null
  #isGreeted = false
  #isKnown = false
  readonly #topics = new Set<string>()
  readonly #topicsRequested: (readonly string[])[] = []
  readonly #requests = new Map<UserId, SubscribeRequest[]>()
  readonly #following = new Set<UserId>()
  readonly #replaying = new Set<UserId>()
  readonly #unsubscribes: UserId[] = []
  readonly #pings: number[] = []
  #errorsDue = 0
  #isOver = false

  constructor(owner: SessionOwner) {
    this.#owner = owner
  }

  /** Begins on a line that was opened with this as its end. */
  begin(connection: SceneConnection): void {
    this.#connection = connection
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isKnown(): boolean {
    return this.#isKnown && !this.#isOver
  }

  get following(): ReadonlySet<UserId> {
    return this.#following
  }

  /** Nothing it asked for is without its answer. */
  get isAtRest(): boolean {
    const isAsking = [...this.#requests.values()].some(requested => requested.length > 0)
    return this.isKnown && !isAsking && this.#replaying.size === 0 && this.#topicsRequested.length === 0 && this.#pings.length === 0
  }

  isAsking(userId: UserId): boolean {
    return (this.#requests.get(userId)?.length ?? 0) > 0 || this.#replaying.has(userId)
  }

  subscribeUser(userId: UserId, after: number | null): void {
    const requested = this.#requests.get(userId) ?? []
    this.#requests.set(userId, requested)
    requested.push({ after, isRepeat: this.#following.has(userId) && !this.#unsubscribes.includes(userId) })
    this.#send({ action: 'subscribe_user', user_id: userId, ...(after === null ? {} : { after }) })
  }

  unsubscribeUser(userId: UserId): void {
    this.#unsubscribes.push(userId)
    this.#send({ action: 'unsubscribe_user', user_id: userId })
  }

  ping(seq: number): void {
    this.#pings.push(seq)
    this.#send({ action: 'ping', seq })
  }

  /** Something the service cannot understand. */
  babble(): void {
    this.#errorsDue += 1
    this.#send('{"action":"dance"}')
  }

  read(isRead: boolean): void {
    this.#connection?.read(isRead)
  }

  leave(): void {
    this.#isOver = true
    this.#connection?.leave()
  }

  /** The client goes away and the service does not notice: nothing is read any more. */
  vanish(): void {
    this.#isOver = true
    this.#connection?.read(false)
  }

  message(text: string): void {
    if (this.#isOver) return
    this.#owner.mix(text)
    try {
      this.#take(JSON.parse(text), text)
    } catch (cause) {
      this.#owner.failed(cause)
    }
  }

  closed(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#owner.note(`${this.#owner.name} is closed with ${code}`)
    // Never for what it sent or did not send: it sends nothing wrong and authenticates at once.
    if (![1001, 1006, 1013, 4008].includes(code)) this.#owner.failed(new Error(`${this.#owner.name} was closed with ${code}`))
    this.#owner.closed(this, code)
  }

  #take(message: ServerMessage | Update, text: string): void {
    assert.equal(this.#isGreeted, message.type !== 'welcome', `the first message and no other is welcome, was ${message.type}`)
    switch (message.type) {
      case 'welcome':
        this.#isGreeted = true
        this.#authenticate()
        break
      case 'auth_success':
        this.#isKnown = true
        for (const topics of this.#owner.topics) this.#subscribe(topics)
        this.#owner.authenticated(this)
        break
      case 'auth_error':
        this.#owner.note(`${this.#owner.name} is refused: ${message.message}`)
        assert.ok(!/wrong/.test(message.message), message.message)
        this.leave()
        this.#owner.closed(this, 1000)
        break
      case 'subscribed':
        assert.deepEqual(message.topics, this.#topicsRequested.shift(), 'the topics are those asked for')
        for (const topic of message.topics) this.#topics.add(topic)
        break
      case 'user_subscribed':
        this.#subscribed(message.user_id, message.seq)
        break
      case 'caught_up':
        assert.ok(this.#replaying.delete(asUser(message.user_id)), 'caught_up ends a replay')
        this.#owner.caughtUp(asUser(message.user_id), message.seq)
        break
      case 'subscription_failed':
        this.#refused(message)
        break
      case 'user_unsubscribed':
        this.#unsubscribed(asUser(message.user_id))
        break
      case 'pong':
        assert.equal(message.seq, this.#pings.shift(), 'a pong answers the next ping')
        break
      case 'error':
        this.#errorsDue -= 1
        assert.ok(this.#errorsDue >= 0, `an error for nothing: ${message.message}`)
        break
      case 'stream_status':
        assert.ok(this.#owner.wantsStatus, 'a status was sent to a client that did not ask for it')
        this.#owner.status(message)
        break
      default:
        this.#update(message, text)
    }
  }

  #authenticate(): void {
    const extensions = this.#owner.wantsStatus ? { extensions: ['stream_status'] } : {}
    this.#send({ action: 'authenticate', ...this.#owner.credentials, ...extensions })
  }

  #subscribe(topics: readonly string[]): void {
    this.#topicsRequested.push(topics)
    this.#send({ action: 'subscribe', topics })
  }

  #subscribed(user: string, seq: number): void {
    const userId = asUser(user)
    const requested = this.#requests.get(userId)?.shift()
    assert.ok(requested !== undefined, `${userId} was subscribed without being asked for`)
    this.#following.add(userId)
    if (requested.after !== null) {
      assert.equal(seq, requested.after, 'a replay begins where it was asked to')
      this.#replaying.add(userId)
    }
    this.#owner.note(`${this.#owner.name} has ${userId} from ${seq} on`)
    this.#owner.subscribed(userId, seq, requested)
  }

  /** Nothing was changed, so that a user whom the session had is still there. */
  #refused({ message, user_id }: Extract<ServerMessage, { type: 'subscription_failed' }>): void {
    assert.ok(user_id !== undefined, `topics were refused: ${message}`)
    const userId = asUser(user_id)
    // A replay that cannot go on ends the subscription it belongs to.
    const wasReplaying = this.#replaying.delete(userId)
    if (wasReplaying) this.#following.delete(userId)
    const requested = wasReplaying ? { after: 0, isRepeat: false } : this.#requests.get(userId)?.shift()
    assert.ok(requested !== undefined, `${userId} was refused without being asked for: ${message}`)
    this.#owner.note(`${this.#owner.name} does not get ${userId}: ${message}`)
    this.#owner.refused(userId, message, requested)
  }

  #unsubscribed(userId: UserId): void {
    const at = this.#unsubscribes.indexOf(userId)
    if (at >= 0) this.#unsubscribes.splice(at, 1)
    this.#following.delete(userId)
    this.#owner.unsubscribed(userId, at >= 0)
  }

  #update(update: Update, text: string): void {
    const userId = asUser(update.user_id)
    assert.ok(this.#following.has(userId), `an update of ${userId}, who is not subscribed`)
    assert.ok(this.#topics.has('all') || this.#topics.has(update.type), `an update of ${update.type}, which is not subscribed`)
    this.#owner.update(update, text)
  }

  #send(message: unknown): void {
    this.#connection?.receiveFromClient(message)
  }
}

function asUser(text: string): UserId {
  return text as UserId
}
