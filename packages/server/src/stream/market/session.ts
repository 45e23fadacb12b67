import type { ConnectionMarket } from '@trunkline/core/app/market/connection-market'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import type { Watch } from '@trunkline/core/app/market/watcher'
import type { Connection } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import { TooManyFailures } from '../../auth/failed-attempts.ts'
import type { MarketErrorCode, MarketMessage } from '../../wire/market.ts'
import { STREAM_VERSION } from '../../wire/stream.ts'
import { CLOSE, type ClientConnection } from '../client-connection.ts'
import { ClientSession } from '../client-session.ts'
import { ExpiryTimer } from '../expiry-timer.ts'
import { messageFrame, textFrame } from '../frame.ts'
import { type Message, readMessage } from '../message.ts'
import { type AccessGrant, AccessRefused, KEY_ENDED, OwnedElsewhere } from './access.ts'
import type { MarketSessionLimits } from './limits.ts'
import type { OwnerSession, OwnerSessions } from './owner-sessions.ts'
import * as requests from './requests.ts'
import { snapshotText } from './snapshot.ts'
import { type Reader, Subscription } from './subscription.ts'

export interface MarketSessionDeps {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly meter: Meter
  /**
   * Finds the grant of a token, and calls `enter` while it is certain. Returns the grant instead if another node owns the user.
   * @throws AccessRefused, and what `enter` throws; TooManyFailures of the address, without a look-up or after one too many
   */
  readonly admit: (session: MarketSession, token: string, enter: (grant: AccessGrant) => void) => Promise<AccessGrant | null>
  readonly openAtOwner: OwnerSessions['open']
  /** Ends sessions of the user that may not coexist with this one. @throws AccessRefused if a newer token was first */
  readonly register: (session: MarketSession, grant: AccessGrant) => void
  readonly join: (connection: Connection) => ConnectionMarket
  readonly leave: (connection: Connection, market: ConnectionMarket) => void
  /** Reads past bars within a limit of concurrent reads: each may be megabytes. */
  readonly withPermit: <T>(userKey: UserKey, read: () => Promise<T>) => Promise<T>
  /** Reports a failed authentication of the address. */
  readonly failed: (address: string) => void
  /** Called once, when the session is authenticated. */
  readonly known: (session: MarketSession) => void
  /** Called once, when the session's connection is gone. */
  readonly gone: (session: MarketSession) => void
  readonly limits: MarketSessionLimits
}

/** One client on the market data stream: the grant of its token, its subscriptions, and their delivery. */
export class MarketSession implements Reader {
  readonly sessionId: string
  /** Receives the connection's messages, and ends the session. */
  readonly listener: ClientSession
  readonly address: string
  readonly client: ClientConnection
  /** The end of the key that created its token. */
  readonly expiry: ExpiryTimer
  readonly #deps: MarketSessionDeps
  #grant: AccessGrant | null = null
  #market: ConnectionMarket | null = null
  /** Set once everything is passed through to the owner of the user. */
  #atOwner: OwnerSession | null = null
  #lastSubId = 0
  readonly #subscriptions = new Map<string, Subscription>()
  /** Subscriptions that are being made. */
  #subscribing = 0
  /** Resolves when the snapshots requested so far are answered. */
  #snapshots: Promise<void> = Promise.resolve()
  #snapshotsWaiting = 0
  /** Subscriptions that wait until the client has caught up. */
  #behind: Subscription[] = []
  /** Subscriptions whose interruption is sent at the end of the turn, by reason. */
  #interrupted: Map<string, string[]> | null = null

  constructor(deps: MarketSessionDeps, client: ClientConnection, address: string) {
    this.#deps = deps
    this.client = client
    this.address = address
    this.sessionId = deps.ids.uuid()
    this.expiry = new ExpiryTimer(deps.clock, () => this.evict('auth_error', KEY_ENDED))
    this.listener = new ClientSession(
      { sessionId: this.sessionId, client, limits: deps.limits, clock: deps.clock, log: deps.log },
      {
        handle: text => this.#handle(text),
        reject: message => this.#refuse('invalid_request', null, message),
        caughtUp: () => this.#catchUp(),
        release: () => this.#release(),
        gone: () => deps.gone(this)
      }
    )
  }

  /** Begins to wait for the authentication. */
  start(): void {
    void this.listener.awaitAuthentication()
  }

  /** Null until it is authenticated. */
  get grant(): AccessGrant | null {
    return this.#grant
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  #catchUp(): void {
    this.#atOwner?.resume()
    const behind = this.#behind
    this.#behind = []
    for (const subscription of behind) subscription.catchUp()
  }

  /** Ends the session with an error message, because its token, connection or user is gone. */
  evict(code: 'auth_error' | 'connection_broken', message: string): void {
    if (this.listener.isOver) return
    this.#refuse(code, null, message)
    this.listener.finish(CLOSE.ended, message.slice(0, 120))
  }

  behind(subscription: Subscription): void {
    this.#behind.push(subscription)
  }

  interrupted({ subId }: Subscription, reason: string): void {
    if (this.#interrupted === null) {
      this.#interrupted = new Map()
      queueMicrotask(() => this.#sendInterrupted())
    }
    const subIds = this.#interrupted.get(reason)
    if (subIds === undefined) this.#interrupted.set(reason, [subId])
    else subIds.push(subId)
  }

  #handle(text: string): Promise<void> | undefined {
    if (this.#atOwner !== null) return this.#atOwner.send(text)
    const message = readMessage(text)
    if (message === null) {
      this.#refuse('invalid_request', null, NOT_JSON)
      return undefined
    }
    let requestId: string | null = null
    try {
      requestId = requests.readRequestId(message)
      return this.#dispatch(requestId, message)
    } catch (cause) {
      this.#failed(requestId, cause)
      return undefined
    }
  }

  #dispatch(requestId: string, message: Message): Promise<void> | undefined {
    const { action } = message
    if (action === 'authenticate') return this.#authenticate(requestId, message)
    if (this.#grant === null)
      throw new requests.InvalidMessage('not_authenticated', 'Authenticate first: this session is not authenticated.')
    switch (action) {
      case 'subscribe':
        // Each is answered by itself: none waits for another's history.
        void this.#subscribe(requestId, requests.readSubscribe(message))
        return undefined
      case 'list_subscriptions':
        this.#list(requestId)
        return undefined
      case 'unsubscribe':
        this.#unsubscribe(requestId, requests.readSubId(message))
        return undefined
      case 'snapshot':
        return this.#queueSnapshot(requestId, requests.readSnapshot(message), this.#grant)
      default:
        throw new requests.InvalidMessage('unknown_action', UNKNOWN_ACTION)
    }
  }

  async #authenticate(requestId: string, message: Message): Promise<void> {
    if (this.#grant !== null) {
      this.#refuse('auth_error', requestId, 'This session is authenticated already; go on with it, or open another one.')
      return
    }
    try {
      const token = requests.readAuthenticate(message)
      const foreign = await this.#deps.admit(this, token, grant => this.#enter(requestId, grant))
      if (foreign !== null) await this.#passThrough(requestId, message, foreign)
    } catch (cause) {
      this.#notAuthenticated(requestId, cause)
    }
  }

  /** From here on the session is the owner's, which authenticates it again. */
  async #passThrough(requestId: string, message: Message, { userKey }: AccessGrant): Promise<void> {
    const atOwner = await this.#deps.openAtOwner(userKey, this.address, {
      message: payload => {
        this.client.send(textFrame(payload))
        if (this.client.isBehind) this.#atOwner?.pause()
      },
      closed: (code, reason) => this.listener.finish(code, reason)
    })
    if (this.listener.isOver) return atOwner?.end()
    if (atOwner === null) return this.#authenticate(requestId, message)
    this.#atOwner = atOwner
    this.#deps.known(this)
    this.listener.authenticated()
    await atOwner.send(JSON.stringify(message))
  }

  /** Synchronous: messages that end the session come after the success. */
  #enter(requestId: string, grant: AccessGrant): void {
    if (this.listener.isOver) return
    const { join, leave, register } = this.#deps
    const market = join(grant.connection)
    try {
      register(this, grant)
    } catch (cause) {
      leave(grant.connection, market)
      throw cause
    }
    this.#grant = grant
    this.#deps.known(this)
    this.#market = market
    this.listener.authenticated()
    this.#send({
      type: 'auth_success',
      message: 'Authenticated.',
      request_id: requestId,
      session_id: this.sessionId,
      version: STREAM_VERSION
    })
    this.expiry.endAt(grant.keyEndsAt)
  }

  #notAuthenticated(requestId: string, cause: unknown): void {
    if (this.listener.isOver) return
    if (cause instanceof OwnedElsewhere) {
      this.listener.finish(CLOSE.goingAway, MOVED)
      return
    }
    const isTooMany = cause instanceof TooManyFailures
    const isWrong = cause instanceof AccessRefused || isTooMany
    const isInvalid = cause instanceof requests.InvalidMessage
    if (!isWrong && !isInvalid) {
      this.#failed(requestId, cause)
      return
    }
    this.#deps.meter.count('market_authentications_failed_total')
    if (isWrong) this.#deps.failed(this.address)
    this.#refuse(isTooMany ? 'auth_error' : cause.code, requestId, cause.message)
    this.listener.authenticationFailed(isTooMany)
  }

  async #subscribe(requestId: string, subscribe: requests.Subscribe): Promise<void> {
    const { subscriptionsMax } = this.#deps.limits
    let watch: Watch | null = null
    this.#subscribing += 1
    try {
      if (this.#subscriptions.size + this.#subscribing > subscriptionsMax) {
        throw new requests.InvalidMessage(
          'subscription_limit',
          `This session has ${subscriptionsMax} subscriptions, the most it may; end one first.`
        )
      }
      watch = (await this.#market?.watch(subscribe.watch)) ?? null
      if (watch === null) return
      if (this.listener.isOver) return watch.end()
      this.#lastSubId += 1
      const subscription = new Subscription(String(this.#lastSubId), subscribe, watch, this)
      this.#subscriptions.set(subscription.subId, subscription)
      this.#send({ type: 'subscription_success', message: 'Subscribed.', ...this.#described(subscription), request_id: requestId })
      subscription.begin()
    } catch (cause) {
      this.#failed(requestId, cause)
    } finally {
      this.#subscribing -= 1
    }
  }

  #list(requestId: string): void {
    const subscriptions = [...this.#subscriptions.values()].map(subscription => this.#describedInFull(subscription))
    this.#send({ type: 'subscriptions_list', subscriptions, request_id: requestId, version: STREAM_VERSION })
  }

  #unsubscribe(requestId: string, subId: string): void {
    const subscription = this.#subscriptions.get(subId)
    if (subscription === undefined) {
      throw new requests.InvalidMessage(
        'subscription_not_found',
        'This session has no subscription with this sub_id; see list_subscriptions.'
      )
    }
    this.#subscriptions.delete(subId)
    subscription.end()
    this.#behind = this.#behind.filter(other => other !== subscription)
    this.#send({ type: 'unsubscription_success', message: 'Unsubscribed.', ...this.#describedInFull(subscription), request_id: requestId })
  }

  /** One after the other: each may be megabytes. Above the limit the session is not read until one has finished. */
  #queueSnapshot(requestId: string, snapshot: requests.Snapshot, grant: AccessGrant): Promise<void> | undefined {
    this.#snapshotsWaiting += 1
    this.#snapshots = this.#snapshots.then(() => this.#snapshot(requestId, snapshot, grant)).finally(() => (this.#snapshotsWaiting -= 1))
    return this.#snapshotsWaiting > SNAPSHOTS_WAITING_MAX ? this.#snapshots : undefined
  }

  async #snapshot(requestId: string, snapshot: requests.Snapshot, { userKey }: AccessGrant): Promise<void> {
    try {
      await this.#deps.withPermit(userKey, async () => {
        if (this.listener.isOver) return
        const bars = this.#market?.past(snapshot)
        const text = bars === undefined ? null : await snapshotText(requestId, snapshot, bars, () => this.listener.isOver)
        if (text !== null && !this.listener.isOver) this.client.sendText(text)
      })
      // One at a time: the next begins when this one is written.
      await this.client.idle()
    } catch (cause) {
      this.#failed(requestId, cause)
    }
  }

  /** With an empty text where the channel has no such parameter. */
  #describedInFull(subscription: Subscription) {
    return { interval: '', session: '', ...this.#described(subscription) }
  }

  #described({ subId, requested }: Subscription): Described {
    const { channel, symbol } = requested
    const subscription = { broker: String(this.#grant?.connection.broker ?? ''), channel, symbol, sub_id: subId }
    if (requested.channel === 'bars') return { ...subscription, interval: requested.interval, session: requested.session }
    return requested.channel === 'trades' ? { ...subscription, session: requested.session } : subscription
  }

  #sendInterrupted(): void {
    const interrupted = this.#interrupted
    this.#interrupted = null
    if (this.listener.isOver) return
    for (const [reason, subIds] of interrupted ?? []) {
      const message = `These subscriptions are interrupted: ${reason}. They go on by themselves.`
      this.#send({ type: 'error', error_code: 'broker_unavailable', request_id: null, message, sub_ids: subIds })
    }
  }

  #failed(requestId: string | null, cause: unknown): void {
    if (this.listener.isOver) return
    if (cause instanceof requests.InvalidMessage || cause instanceof MarketRefusal) {
      this.#refuse(cause.code, requestId, cause.message)
      return
    }
    this.#deps.log.warn('a market data request failed', { sessionId: this.sessionId, cause })
    this.#refuse('internal_error', requestId, 'This cannot be done just now; try again in a second.')
  }

  #refuse(code: MarketErrorCode, requestId: string | null, message: string): void {
    this.#send({ type: 'error', error_code: code, request_id: requestId, message })
  }

  #release(): void {
    this.expiry.stop()
    this.#atOwner?.end()
    for (const subscription of this.#subscriptions.values()) subscription.end()
    this.#subscriptions.clear()
    this.#behind = []
    if (this.#grant !== null && this.#market !== null) this.#deps.leave(this.#grant.connection, this.#market)
  }

  #send(message: MarketMessage): void {
    this.client.send(messageFrame(message))
  }
}

type Described = Omit<Extract<MarketMessage, { readonly type: 'subscription_success' }>, 'type' | 'message' | 'request_id'>

const SNAPSHOTS_WAITING_MAX = 32
const MOVED = 'the user was moved to another node; connect again'
const NOT_JSON = 'A message must be a JSON object with an action and a request_id, as text.'
const UNKNOWN_ACTION = 'action must be one of authenticate, subscribe, list_subscriptions, unsubscribe, snapshot.'
