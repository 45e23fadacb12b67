import type { AttemptLimits, CredentialLookup } from '@trunkline/core/app/authenticate'
import type { Connection, ConnectionHealth, Platform, User } from '@trunkline/core/domain/account'
import { type ErrorCode, ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { Store } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'
import { type ServerMessage, STREAM_VERSION } from '../../wire/stream.ts'
import { CLOSE, type ClientConnection } from '../client-connection.ts'
import { ClientSession } from '../client-session.ts'
import { messageFrame } from '../frame.ts'
import { type Message, readMessage } from '../message.ts'
import type { Feed, Subscriber } from './feed.ts'
import { type Hub, statusMessage } from './hub.ts'
import type { SessionLimits } from './limits.ts'
import { Replay, ReplayRefused, type ReplayTarget } from './replay.ts'
import * as requests from './requests.ts'
import { SessionCredentials } from './session-credentials.ts'
import type { AccountSessionSlots } from './session-slots.ts'

export interface SessionDeps {
  readonly store: Pick<Store, 'users' | 'events' | 'connections'>
  readonly lookup: CredentialLookup
  /** Limits of failed attempts, over all sessions. */
  readonly attempts: AttemptLimits
  readonly hasher: Hasher
  /** Null: only another node knows it, and has yet to tell; then the hub reports it. */
  readonly healthOf: (connection: Connection) => ConnectionHealth | null
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly meter: Meter
  readonly hub: Hub
  readonly slots: AccountSessionSlots
  /** Reports a failed authentication of the address. */
  readonly failed: (address: string) => void
  /** Records that the platform named a user that it does not have. */
  readonly denied: (address: string, platformId: PlatformId) => void
  /** Reads the store within a limit of concurrent reads: thousands may subscribe at once. */
  readonly withPermit: <T>(read: () => Promise<T>) => Promise<T>
  /** Counts replacements of client secrets: credentials proved before one are checked again. */
  readonly secretChanges: () => number
  /** Called once, as the session is authenticated. */
  readonly known: (session: AccountSession) => void
  /** Called once, when the session's connection is gone. */
  readonly gone: (session: AccountSession) => void
  readonly limits: SessionLimits
}

/** One client on the broker stream: its platform, its subscriptions, and their delivery. It is independent of sockets. */
export class AccountSession implements Subscriber {
  readonly sessionId: string
  /** Receives the connection's messages, and ends the session. */
  readonly listener: ClientSession
  readonly credentials: SessionCredentials
  readonly #deps: SessionDeps
  readonly #client: ClientConnection
  readonly #address: string
  #platform: Platform | null = null
  #topics = 0
  #wantsStatus = false
  readonly #feeds = new Map<UserKey, Feed>()
  /** The end of a replay that was ahead of the feed: the feed's events up to it were sent already. */
  #ahead: Map<Feed, number> | null = null

  constructor(deps: SessionDeps, client: ClientConnection, address: string) {
    this.#deps = deps
    this.#client = client
    this.#address = address
    this.sessionId = deps.ids.uuid()
    this.listener = new ClientSession(
      { sessionId: this.sessionId, client, limits: deps.limits, clock: deps.clock, log: deps.log },
      {
        handle: text => this.#handle(text),
        reject: message => this.#send({ type: 'error', message }),
        // Updates are never conflated, so there is nothing to catch up with.
        caughtUp() {},
        release: () => this.#release(),
        gone: () => deps.gone(this)
      }
    )
    this.credentials = new SessionCredentials(deps, address, reason => this.listener.finish(CLOSE.unauthenticated, reason))
  }

  /** Sends the welcome, and begins to wait for the authentication. */
  start(): void {
    this.#send({
      type: 'welcome',
      session_id: this.sessionId,
      message: `Send authenticate within ${this.#deps.limits.authenticateMs / 1_000} seconds.`
    })
    void this.listener.awaitAuthentication()
  }

  get platformId(): PlatformId | null {
    return this.#platform?.platformId ?? null
  }

  get topics(): number {
    return this.#topics
  }

  update(feed: Feed, seq: number, frame: Uint8Array): void {
    if (this.#ahead !== null && !this.#isNew(feed, seq)) return
    this.#client.send(frame)
  }

  status(frame: () => Uint8Array): void {
    if (this.#wantsStatus) this.#client.send(frame())
  }

  removed(feed: Feed): void {
    this.#drop(feed)
    this.#send({ type: 'user_unsubscribed', user_id: feed.userId })
  }

  #handle(text: string): Promise<void> | undefined {
    const message = readMessage(text)
    const action = message?.action
    if (message !== null && action === 'authenticate') return this.#authenticate(message)
    if (this.#platform === null) {
      if (action === 'subscribe' || action === 'subscribe_user') this.#refuse('Authenticate first: this session is not authenticated.')
      return undefined
    }
    try {
      switch (action) {
        case 'subscribe':
          this.#subscribe(requests.readTopics(message ?? {}))
          return undefined
        case 'subscribe_user':
          return this.#subscribeUser(this.#platform, requests.readSubscribeUser(message ?? {}))
        case 'unsubscribe_user':
          this.#unsubscribeUser(requests.readUserId(message ?? {}))
          return undefined
        case 'ping':
          this.#pong(requests.readSeq(message ?? {}))
          return undefined
        default:
          throw new requests.InvalidMessage(message === null ? NOT_JSON : UNKNOWN_ACTION)
      }
    } catch (cause) {
      if (!(cause instanceof requests.InvalidMessage)) throw cause
      if (action === 'subscribe' || action === 'subscribe_user') this.#refuse(cause.message)
      else this.#send({ type: 'error', message: cause.message })
      return undefined
    }
  }

  async #authenticate(message: Message): Promise<void> {
    if (this.#platform !== null) {
      this.#send({ type: 'auth_error', message: 'This session is authenticated already; go on with it, or open another one.' })
      return
    }
    const { slots, secretChanges } = this.#deps
    try {
      const { clientId, clientSecret, extensions } = requests.readAuthenticate(message)
      let changes = secretChanges()
      let proven = await this.credentials.of(clientId, clientSecret)
      const { platform } = proven
      if (this.listener.isOver) return
      if (!(await slots.take(proven.key, this.sessionId))) {
        throw new requests.InvalidMessage(
          `The concurrent-session limit is reached: this client_id has ${slots.limit} sessions, the most it may. Close one of them first.`
        )
      }
      if (this.listener.isOver) return slots.release(this.sessionId)
      while (changes !== secretChanges()) {
        changes = secretChanges()
        proven = await this.credentials.of(clientId, clientSecret).catch(cause => {
          slots.release(this.sessionId)
          throw cause
        })
        if (this.listener.isOver) return slots.release(this.sessionId)
      }
      this.listener.authenticated()
      this.#platform = platform
      this.#deps.known(this)
      this.credentials.hold(proven)
      this.#wantsStatus = extensions.has('stream_status')
      this.#send({ type: 'auth_success', message: 'Authenticated.', version: STREAM_VERSION })
    } catch (cause) {
      this.#notAuthenticated(cause)
    }
  }

  #notAuthenticated(cause: unknown): void {
    if (this.listener.isOver) return
    const code = cause instanceof ServiceError ? cause.code : null
    const isWrong = cause instanceof ServiceError && WRONG.has(cause.code)
    if (!isWrong && !(cause instanceof requests.InvalidMessage)) {
      this.#deps.log.warn('an authentication could not be checked', { sessionId: this.sessionId, cause })
      // Not an auth_error: a client would count it as a refusal of its credentials.
      this.listener.finish(CLOSE.tryAgain, 'the credentials cannot be checked just now; connect again')
      return
    }
    this.#deps.meter.count('stream_authentications_failed_total')
    if (isWrong) this.#deps.failed(this.#address)
    this.#send({ type: 'auth_error', message: code === 'credentials_invalid' ? WRONG_CREDENTIALS : cause.message })
    this.listener.authenticationFailed(code === 'rate_limited')
  }

  #subscribe({ bits, requested }: { readonly bits: number; readonly requested: readonly string[] }): void {
    this.#topics |= bits
    this.#send({ type: 'subscribed', subscription_id: this.#deps.ids.uuid(), topics: [...requested] })
  }

  async #subscribeUser({ platformId }: Platform, { userId, after }: requests.SubscribeUser): Promise<void> {
    const { store, hub, log, withPermit } = this.#deps
    let feed: Feed | null = null
    let isOurs = false
    try {
      const { removals } = hub
      const user = await this.#enabledUser(platformId, userId)
      if (this.listener.isOver) return
      const { userKey } = user
      const present = this.#feeds.get(userKey)
      if (present !== undefined && after === null) {
        // A replay may have been ahead of the feed's deliveries since.
        const seq = Math.max(present.position, this.#ahead?.get(present) ?? 0)
        return this.#send({ type: 'user_subscribed', user_id: userId, seq })
      }
      if (present === undefined && this.#feeds.size >= this.#deps.limits.usersMax) {
        throw new requests.InvalidMessage(`This session has ${this.#deps.limits.usersMax} users, the limit; use another session for more.`)
      }
      feed = await withPermit(() => hub.join(user))
      // After the join the hub ends the feed with its user. An earlier removal or disabling was not reported to this session.
      if (removals !== hub.removals && (await this.#enabledUser(platformId, userId)).userKey !== userKey)
        throw new requests.InvalidMessage(UNKNOWN_USER)
      // A refused replay leaves an existing subscription unchanged.
      const replay = after === null ? null : await Replay.begin(store.events, feed, after)
      if (this.listener.isOver) return hub.leave(feed)
      if (feed.isRemoved) throw new requests.InvalidMessage(UNKNOWN_USER)
      if (present !== undefined) this.#drop(present)
      this.#feeds.set(userKey, feed)
      isOurs = true
      if (replay === null) {
        hub.attach(feed, this)
        this.#send({ type: 'user_subscribed', user_id: userId, seq: feed.position })
      } else await this.#replay(feed, replay)
      if (this.#wantsStatus && !(await this.#sendHealth(feed))) void this.#sendHealthLater(feed)
    } catch (cause) {
      if (feed !== null && !isOurs) hub.leave(feed)
      else if (feed !== null && this.#feeds.get(feed.userKey) === feed) this.#drop(feed)
      if (cause instanceof requests.InvalidMessage || cause instanceof ReplayRefused) return this.#refuse(cause.message, userId)
      log.warn('a user could not be subscribed', { sessionId: this.sessionId, cause })
      this.#refuse('The subscription cannot be made just now; try again in a second.', userId)
    }
  }

  /** @throws InvalidMessage if there is none */
  async #enabledUser(platformId: PlatformId, userId: UserId): Promise<User> {
    const known = await this.#deps.withPermit(() => this.#deps.store.users.find(platformId, userId))
    if (known !== null && known.disabledAt === null) return known.user
    if (!this.listener.isOver) this.#deps.denied(this.#address, platformId)
    throw new requests.InvalidMessage(UNKNOWN_USER)
  }

  /** @throws ReplayRefused */
  async #replay(feed: Feed, replay: Replay): Promise<void> {
    this.#send({ type: 'user_subscribed', user_id: feed.userId, seq: replay.position })
    const target: ReplayTarget = {
      wanted: () => (this.listener.isOver || feed.isRemoved || this.#feeds.get(feed.userKey) !== feed ? null : this.#topics),
      send: frame => this.#client.send(frame),
      taken: () => this.#client.idle()
    }
    let position = await replay.run(this.#deps.hub, target)
    // Since the replay's last check of the feed, an event may have been delivered to all other sessions.
    while (position !== null && position < feed.position) position = await replay.run(this.#deps.hub, target)
    // Not attached yet, so the deletion of the user was not reported.
    if (feed.isRemoved && this.#feeds.get(feed.userKey) === feed) return this.removed(feed)
    if (position === null) return
    if (position > feed.position) {
      this.#ahead ??= new Map()
      this.#ahead.set(feed, position)
    }
    this.#deps.hub.attach(feed, this)
    this.#send({ type: 'caught_up', user_id: feed.userId, seq: position })
  }

  /** Sends the health of the user's connections; false if the store could not list them. The subscription is valid either way. */
  async #sendHealth(feed: Feed): Promise<boolean> {
    const { store, healthOf, log } = this.#deps
    const isWanted = () => !this.listener.isOver && this.#feeds.get(feed.userKey) === feed
    if (!isWanted()) return true
    try {
      const connections = await store.connections.listByUser(feed.userKey, null)
      if (!isWanted()) return true
      for (const connection of connections) {
        const health = healthOf(connection)
        if (health !== null) this.#send(statusMessage(feed.userId, connection.connectionId, health))
      }
      return true
    } catch (cause) {
      log.warn('the health of a user’s connections could not be read; retrying', { sessionId: this.sessionId, cause })
      return false
    }
  }

  async #sendHealthLater(feed: Feed): Promise<void> {
    do await this.#deps.clock.sleep(STATUS_RETRY_MS)
    while (!(await this.#sendHealth(feed)))
  }

  #unsubscribeUser(userId: Feed['userId']): void {
    for (const feed of this.#feeds.values()) if (feed.userId === userId) this.#drop(feed)
    this.#send({ type: 'user_unsubscribed', user_id: userId })
  }

  #drop(feed: Feed): void {
    this.#feeds.delete(feed.userKey)
    this.#ahead?.delete(feed)
    this.#deps.hub.detach(feed, this)
    this.#deps.hub.leave(feed)
  }

  #pong(seq: number | undefined): void {
    this.#send(seq === undefined ? { type: 'pong' } : { type: 'pong', seq })
  }

  #isNew(feed: Feed, seq: number): boolean {
    const sent = this.#ahead?.get(feed)
    if (sent === undefined) return true
    if (seq <= sent) return false
    this.#ahead?.delete(feed)
    if (this.#ahead?.size === 0) this.#ahead = null
    return true
  }

  #refuse(message: string, userId?: string): void {
    this.#send(userId === undefined ? { type: 'subscription_failed', message } : { type: 'subscription_failed', message, user_id: userId })
  }

  #release(): void {
    this.credentials.stop()
    for (const feed of [...this.#feeds.values()]) this.#drop(feed)
    if (this.#platform !== null) this.#deps.slots.release(this.sessionId)
  }

  #send(message: ServerMessage): void {
    this.#client.send(messageFrame(message))
  }
}

const WRONG: ReadonlySet<ErrorCode> = new Set(['credentials_invalid', 'scope_missing', 'rate_limited'])
const STATUS_RETRY_MS = 1_000
const NOT_JSON = 'A message must be a JSON object with an action, as text.'
const UNKNOWN_ACTION = 'action must be one of authenticate, subscribe, subscribe_user, unsubscribe_user, ping.'
const UNKNOWN_USER = 'There is no user with this user_id on your platform.'
const WRONG_CREDENTIALS = 'The client_id or the client_secret is wrong.'
