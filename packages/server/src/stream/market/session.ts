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
import { messageFrame } from '../frame.ts'
import { Inbox, type InboxOwner } from '../inbox.ts'
import { Lifetime } from '../lifetime.ts'
import { CLOSE, type Line, type Listener } from '../line.ts'
import { type Message, readMessage } from '../message.ts'
import { AccessRefused, KEY_ENDED, type Pass } from './access.ts'
import type { MarketSessionLimits } from './limits.ts'
import * as requests from './requests.ts'
import { snapshotText } from './snapshot.ts'
import { type Reader, Subscription } from './subscription.ts'

export interface MarketSessionDeps {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly meter: Meter
  /**
   * Finds whose token it is, and of which connection, and calls `enter` while that is certain. @throws AccessRefused, and what `enter` throws;
   * TooManyFailures of the address, with nothing looked up or after one too many
   */
  readonly admit: (token: string, address: string, enter: (pass: Pass) => void) => Promise<void>
  /** Sessions of the user that may not be beside this one are ended. @throws AccessRefused when a newer token came first */
  readonly seat: (session: MarketSession, pass: Pass) => void
  readonly join: (connection: Connection) => ConnectionMarket
  readonly leave: (connection: Connection, market: ConnectionMarket) => void
  /** Reads past bars when it is the user's turn: each may be megabytes. */
  readonly inTurn: <T>(userKey: UserKey, read: () => Promise<T>) => Promise<T>
  /** Notes a failed authentication of the address. */
  readonly failed: (address: string) => void
  /** Called once, when the session is authenticated. */
  readonly known: (session: MarketSession) => void
  /** Told once, when the session's line is gone. */
  readonly gone: (session: MarketSession) => void
  readonly limits: MarketSessionLimits
}

/** One client on the market data stream: whose token it showed, what it is subscribed to, and the giving of it. */
export class MarketSession implements Listener, InboxOwner, Reader {
  readonly sessionId: string
  readonly address: string
  readonly line: Line
  /** Of the key that its token was had with. */
  readonly lifetime: Lifetime
  readonly #deps: MarketSessionDeps
  readonly #inbox: Inbox
  #pass: Pass | null = null
  #market: ConnectionMarket | null = null
  #failures = 0
  #isOver = false
  #lastSubId = 0
  readonly #subscriptions = new Map<string, Subscription>()
  /** Subscriptions that are being made. */
  #subscribing = 0
  /** Resolves when the snapshots asked for so far are answered. */
  #snapshots: Promise<void> = Promise.resolve()
  #snapshotsWaiting = 0
  /** Those that hold something back until the line has caught up. */
  #behind: Subscription[] = []
  /** Those whose interruption is told when the turn is over, by reason. */
  #interrupted: Map<string, string[]> | null = null
  /** Ends the waiting for an authentication. */
  #known: AbortController | null = new AbortController()

  constructor(deps: MarketSessionDeps, line: Line, address: string) {
    this.#deps = deps
    this.line = line
    this.address = address
    this.sessionId = deps.ids.uuid()
    this.lifetime = new Lifetime(deps.clock, () => this.evict('auth_error', KEY_ENDED))
    this.#inbox = new Inbox(this, deps.clock, deps.limits.inbox)
  }

  /** Begins to wait for the authentication. */
  start(): void {
    void this.#awaitAuthentication()
  }

  /** Null until it is authenticated. */
  get pass(): Pass | null {
    return this.#pass
  }

  /** It has ended, or is about to once what was sent is out. */
  get isOver(): boolean {
    return this.#isOver
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  text(message: string): void {
    if (!this.#isOver) this.#inbox.put(message)
  }

  binary(): void {
    this.text('')
  }

  relieved(): void {
    const behind = this.#behind
    this.#behind = []
    for (const subscription of behind) subscription.catchUp()
  }

  gone(): void {
    this.#end()
    this.#deps.gone(this)
  }

  pause(): void {
    this.line.pause()
  }

  resume(): void {
    this.line.resume()
  }

  /** Ends the session once everything it is owed is out. */
  finish(code: number, reason: string): void {
    if (this.#isOver) return
    this.#end()
    this.line.finish(code, reason)
  }

  /** Ends the session because what it stood on is gone, and says so. */
  evict(code: 'auth_error' | 'connection_broken', message: string): void {
    if (this.#isOver) return
    this.#refuse(code, null, message)
    this.finish(CLOSE.ended, message.slice(0, 120))
  }

  behind(subscription: Subscription): void {
    this.#behind.push(subscription)
  }

  interrupted({ subId }: Subscription, reason: string): void {
    if (this.#interrupted === null) {
      this.#interrupted = new Map()
      queueMicrotask(() => this.#tellInterrupted())
    }
    const subIds = this.#interrupted.get(reason)
    if (subIds === undefined) this.#interrupted.set(reason, [subId])
    else subIds.push(subId)
  }

  tooMany(isLast: boolean): void {
    if (this.#isOver) return
    const { burst, perSecond } = this.#deps.limits.inbox
    this.#refuse('invalid_request', null, `Too many messages: at most ${burst} at once and ${perSecond} a second. This one was dropped.`)
    if (isLast) this.finish(CLOSE.tooManyFailures, 'too many messages')
  }

  handle(text: string): Promise<void> | undefined {
    if (this.#isOver) return undefined
    const message = readMessage(text)
    if (message === null) {
      this.#refuse('invalid_request', null, NOT_JSON)
      return undefined
    }
    let requestId: string | null = null
    try {
      requestId = requests.readRequestId(message)
      return this.#do(requestId, message)
    } catch (cause) {
      this.#failed(requestId, cause)
      return undefined
    }
  }

  #do(requestId: string, message: Message): Promise<void> | undefined {
    const { action } = message
    if (action === 'authenticate') return this.#authenticate(requestId, message)
    if (this.#pass === null) throw new requests.Unfit('not_authenticated', 'Authenticate first: this session is not authenticated.')
    switch (action) {
      case 'subscribe':
        // Each is answered when it can be: none waits for another's history.
        void this.#subscribe(requestId, requests.readSubscribe(message))
        return undefined
      case 'list_subscriptions':
        this.#list(requestId)
        return undefined
      case 'unsubscribe':
        this.#unsubscribe(requestId, requests.readSubId(message))
        return undefined
      case 'snapshot':
        return this.#snapshotInLine(requestId, requests.readSnapshot(message), this.#pass)
      default:
        throw new requests.Unfit('unknown_action', UNKNOWN_ACTION)
    }
  }

  async #authenticate(requestId: string, message: Message): Promise<void> {
    if (this.#pass !== null) {
      this.#refuse('auth_error', requestId, 'This session is authenticated already; go on with it, or open another one.')
      return
    }
    try {
      await this.#deps.admit(requests.readAuthenticate(message), this.address, pass => this.#enter(requestId, pass))
    } catch (cause) {
      this.#notAuthenticated(requestId, cause)
    }
  }

  /** At once and whole: what ends the session a moment later comes after the success. */
  #enter(requestId: string, pass: Pass): void {
    if (this.#isOver) return
    const { join, leave, seat } = this.#deps
    const market = join(pass.connection)
    try {
      seat(this, pass)
    } catch (cause) {
      leave(pass.connection, market)
      throw cause
    }
    this.#pass = pass
    this.#deps.known(this)
    this.#market = market
    this.#known?.abort()
    this.#known = null
    this.#say({
      type: 'auth_success',
      message: 'Authenticated.',
      request_id: requestId,
      session_id: this.sessionId,
      version: STREAM_VERSION
    })
    this.lifetime.endAt(pass.keyEndsAt)
  }

  #notAuthenticated(requestId: string, cause: unknown): void {
    if (this.#isOver) return
    const isTooMany = cause instanceof TooManyFailures
    const isWrong = cause instanceof AccessRefused || isTooMany
    const isUnfit = cause instanceof requests.Unfit
    if (!isWrong && !isUnfit) {
      this.#failed(requestId, cause)
      return
    }
    this.#failures += 1
    this.#deps.meter.count('market_authentications_failed_total')
    if (isWrong) this.#deps.failed(this.address)
    this.#refuse(isTooMany ? 'auth_error' : cause.code, requestId, cause.message)
    if (this.#failures >= this.#deps.limits.failuresMax || isTooMany) this.finish(CLOSE.tooManyFailures, 'too many failed authentications')
  }

  async #subscribe(requestId: string, subscribe: requests.Subscribe): Promise<void> {
    const { subscriptionsMax } = this.#deps.limits
    let watch: Watch | null = null
    this.#subscribing += 1
    try {
      if (this.#subscriptions.size + this.#subscribing > subscriptionsMax) {
        throw new requests.Unfit(
          'subscription_limit',
          `This session has ${subscriptionsMax} subscriptions, the most it may; end one first.`
        )
      }
      watch = (await this.#market?.watch(subscribe.watch)) ?? null
      if (watch === null) return
      if (this.#isOver) return watch.end()
      this.#lastSubId += 1
      const subscription = new Subscription(String(this.#lastSubId), subscribe, watch, this)
      this.#subscriptions.set(subscription.subId, subscription)
      this.#say({ type: 'subscription_success', message: 'Subscribed.', ...this.#described(subscription), request_id: requestId })
      subscription.begin()
    } catch (cause) {
      this.#failed(requestId, cause)
    } finally {
      this.#subscribing -= 1
    }
  }

  #list(requestId: string): void {
    const subscriptions = [...this.#subscriptions.values()].map(subscription => this.#describedInFull(subscription))
    this.#say({ type: 'subscriptions_list', subscriptions, request_id: requestId, version: STREAM_VERSION })
  }

  #unsubscribe(requestId: string, subId: string): void {
    const subscription = this.#subscriptions.get(subId)
    if (subscription === undefined) {
      throw new requests.Unfit('subscription_not_found', 'This session has no subscription with this sub_id; see list_subscriptions.')
    }
    this.#subscriptions.delete(subId)
    subscription.end()
    this.#behind = this.#behind.filter(other => other !== subscription)
    this.#say({ type: 'unsubscription_success', message: 'Unsubscribed.', ...this.#describedInFull(subscription), request_id: requestId })
  }

  /** One after the other: each may be megabytes. So many may be in line; then the session is not read until there is room. */
  #snapshotInLine(requestId: string, snapshot: requests.Snapshot, pass: Pass): Promise<void> | undefined {
    this.#snapshotsWaiting += 1
    this.#snapshots = this.#snapshots.then(() => this.#snapshot(requestId, snapshot, pass)).finally(() => (this.#snapshotsWaiting -= 1))
    return this.#snapshotsWaiting > SNAPSHOTS_WAITING_MAX ? this.#snapshots : undefined
  }

  async #snapshot(requestId: string, snapshot: requests.Snapshot, { userKey }: Pass): Promise<void> {
    try {
      await this.#deps.inTurn(userKey, async () => {
        if (this.#isOver) return
        const bars = this.#market?.past(snapshot)
        const text = bars === undefined ? null : await snapshotText(requestId, snapshot, bars, () => this.#isOver)
        if (text !== null && !this.#isOver) this.line.sendText(text)
      })
      // One at a time: the next is begun when this one is on its way.
      await this.line.idle()
    } catch (cause) {
      this.#failed(requestId, cause)
    }
  }

  /** With an empty text where the channel has no such parameter. */
  #describedInFull(subscription: Subscription) {
    return { interval: '', session: '', ...this.#described(subscription) }
  }

  #described({ subId, asked }: Subscription): Described {
    const { channel, symbol } = asked
    const subscription = { broker: String(this.#pass?.connection.broker ?? ''), channel, symbol, sub_id: subId }
    if (asked.channel === 'bars') return { ...subscription, interval: asked.interval, session: asked.session }
    return asked.channel === 'trades' ? { ...subscription, session: asked.session } : subscription
  }

  #tellInterrupted(): void {
    const interrupted = this.#interrupted
    this.#interrupted = null
    if (this.#isOver) return
    for (const [reason, subIds] of interrupted ?? []) {
      const message = `These subscriptions are interrupted: ${reason}. They go on by themselves.`
      this.#say({ type: 'error', error_code: 'broker_unavailable', request_id: null, message, sub_ids: subIds })
    }
  }

  #failed(requestId: string | null, cause: unknown): void {
    if (this.#isOver) return
    if (cause instanceof requests.Unfit || cause instanceof MarketRefusal) {
      this.#refuse(cause.code, requestId, cause.message)
      return
    }
    this.#deps.log.warn('a market data request failed', { sessionId: this.sessionId, cause })
    this.#refuse('internal_error', requestId, 'This cannot be done just now; try again in a second.')
  }

  #refuse(code: MarketErrorCode, requestId: string | null, message: string): void {
    this.#say({ type: 'error', error_code: code, request_id: requestId, message })
  }

  failed(cause: unknown): void {
    this.#deps.log.error('a session failed and is closed', { sessionId: this.sessionId, cause })
    this.finish(CLOSE.internal, 'internal error')
  }

  async #awaitAuthentication(): Promise<void> {
    const isLate = await this.#deps.clock.sleep(this.#deps.limits.authenticateMs, this.#known?.signal).then(
      () => true,
      () => false
    )
    if (isLate) this.finish(CLOSE.unauthenticated, 'no authentication in time')
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#known?.abort()
    this.#known = null
    this.lifetime.stop()
    this.#inbox.close()
    for (const subscription of this.#subscriptions.values()) subscription.end()
    this.#subscriptions.clear()
    this.#behind = []
    if (this.#pass !== null && this.#market !== null) this.#deps.leave(this.#pass.connection, this.#market)
  }

  #say(message: MarketMessage): void {
    this.line.send(messageFrame(message))
  }
}

type Described = Omit<Extract<MarketMessage, { readonly type: 'subscription_success' }>, 'type' | 'message' | 'request_id'>

const SNAPSHOTS_WAITING_MAX = 32
const NOT_JSON = 'A message must be a JSON object with an action and a request_id, as text.'
const UNKNOWN_ACTION = 'action must be one of authenticate, subscribe, list_subscriptions, unsubscribe, snapshot.'
