// Sends the events of the users that this node owns to the endpoints of their platforms.
import { setBounded } from '@trunkline/core/app/bounded-map'
import { someAtATime } from '@trunkline/core/app/some-at-a-time'
import type { User } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Bus, BusMessage } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ownership } from '@trunkline/core/ports/ownership'
import type { Store } from '@trunkline/core/ports/store'
import type { Vault } from '@trunkline/core/ports/vault'
import type { WebhookBacklog, WebhookStore } from '@trunkline/core/ports/webhook-store'
import { ChainRunner, type Next, type RunnerDeps, soon, UNWRITTEN } from './chain-runner.ts'
import type { Chain, EndpointQueue } from './endpoint-queue.ts'
import { Endpoints } from './endpoints.ts'
import { PlatformPlaces } from './platform-places.ts'
import { RecentEvents } from './recent-events.ts'

export interface SenderDeps extends Omit<RunnerDeps, 'cursors' | 'endpoints' | 'events' | 'recent' | 'clock'> {
  readonly webhooks: Pick<WebhookStore, 'cursors' | 'endpoints'>
  readonly store: { readonly users: Pick<Store['users'], 'findByKey'>; readonly events: RunnerDeps['events'] }
  readonly bus: Pick<Bus, 'subscribe'>
  readonly ownership: Pick<Ownership, 'listen'>
  readonly vault: Vault
  readonly clock: Clock
}

interface Noticed {
  /** The newest event. */
  readonly last: number
  /** When the first of them was logged. */
  readonly since: Timestamp
}

export interface SenderLimits {
  /**
   * Users of all endpoints that wait. Beyond it, those of the endpoint with most are left to the next search. As many besides may have
   * passed events that are not written.
   */
  readonly waitingMax: number
  /** Attempts at once, over all endpoints. Slow endpoints have half of them together. */
  readonly places: number
  /** Of these, a platform's, which has no more than half as many as are free, either. */
  readonly platformPlaces: number
}

const LIMITS: SenderLimits = { waitingMax: 100_000, places: 256, platformPlaces: 64 }
const TICK_MS = 1_000
const REFRESH_TICKS = 10
const SEARCH_TICKS = 60
const SEARCH_PAGE = 1_000
const USERS_KNOWN_MAX = 10_000
const AT_ONCE = 8
/** Users whose passed events are being written. */
const FLUSHED_AT_ONCE = 500

/** The sender of a node. Nothing of it is on the way of an order: it notes what was committed, and reads the rest of the log itself. */
export class WebhookSender {
  readonly #deps: SenderDeps
  readonly #limits: SenderLimits
  readonly #runner: ChainRunner
  readonly #endpoints: Endpoints
  readonly #owned = new Set<Partition>()
  readonly #users = new Map<UserKey, User>()
  readonly #recent = new RecentEvents()
  /** Users with new events. */
  #noticed = new Map<UserKey, Noticed>()
  #isNoticing = false
  #isFlushing = false
  #searching: Promise<void> | null = null
  #isSearchWanted = false
  /** Those with work, in the order in which they are given places. */
  readonly #eager = new Set<EndpointQueue>()
  readonly #running = new Map<Chain, Promise<void>>()
  readonly #places: PlatformPlaces
  readonly #abort = new AbortController()
  #unsubscribe: readonly (() => void)[] = []
  #ticking: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(deps: SenderDeps, limits: Partial<SenderLimits> = {}) {
    this.#deps = deps
    this.#limits = { ...LIMITS, ...limits }
    this.#places = new PlatformPlaces(this.#limits)
    const { cursors, endpoints } = deps.webhooks
    this.#runner = new ChainRunner({ ...deps, cursors, endpoints, events: deps.store.events, recent: this.#recent })
    this.#endpoints = new Endpoints(deps)
  }

  /** Users of endpoints that wait to be sent to, at this node. */
  get waiting(): number {
    return this.#endpoints.waiting
  }

  /** Attempts on their way. */
  get attempts(): number {
    return this.#running.size
  }

  /** Of each endpoint for which updates wait, how old the oldest of them is, as far as this node knows. Seconds. */
  lags(): readonly number[] {
    const now = epochMs(this.#deps.clock.now())
    const oldest = [...this.#endpoints.all()].flatMap(({ oldestAt }) => oldestAt ?? [])
    return oldest.map(at => Math.max(0, (now - epochMs(at)) / 1_000))
  }

  async start(): Promise<void> {
    await this.#refresh()
    this.#unsubscribe = [
      this.#deps.bus.subscribe(message => this.#onMessage(message), ['events', 'webhooks_changed']),
      this.#deps.ownership.listen({ gained: partitions => this.#gained(partitions), release: partitions => this.#release(partitions) })
    ]
    this.#ticking = this.#tick()
  }

  /** Waits for the attempts on their way, and writes how they ended. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#abort.abort()
    await this.#ticking
    await this.#release(new Set(this.#owned))
    await this.#searching
  }

  /** It runs within the call that publishes: it only notes what was published. */
  #onMessage(message: BusMessage): void {
    if (message.type === 'webhooks_changed') return void this.#refresh()
    if (message.type !== 'events' || this.#endpoints.isEmpty || !this.#owned.has(partitionOf(message.userKey))) return
    const { userKey, events } = message
    const [first] = events
    const last = events.at(-1)
    const platformId = this.#users.get(userKey)?.platformId
    if (first === undefined || last === undefined || (platformId !== undefined && !this.#endpoints.has(platformId))) return
    this.#recent.add(userKey, events)
    const known = this.#noticed.get(userKey)
    if (this.#noticed.size >= this.#limits.waitingMax && known === undefined) {
      this.#isSearchWanted = true
      return
    }
    // Commits of a user that ended in one turn may be received in another order.
    this.#noticed.set(userKey, { last: Math.max(last.seq, known?.last ?? 0), since: known?.since ?? first.at })
    if (this.#isNoticing) return
    this.#isNoticing = true
    void this.#notice()
  }

  async #notice(): Promise<void> {
    await this.#deps.clock.nextTurn()
    while (this.#noticed.size > 0) {
      const noticed = this.#noticed
      this.#noticed = new Map()
      await someAtATime(noticed, AT_ONCE, async ([userKey, { last, since }]) => {
        try {
          const user = await this.#user(userKey)
          if (user !== null) for (const queue of this.#endpoints.of(user.platformId)) this.#add(queue, userKey, last, since)
        } catch {
          // The store fails; the search finds the user once it does not.
          this.#isSearchWanted = true
        }
      })
      this.#admit()
    }
    this.#isNoticing = false
  }

  async #user(userKey: UserKey): Promise<User | null> {
    const known = this.#users.get(userKey)
    if (known !== undefined) return known
    const user = await this.#deps.store.users.findByKey(userKey)
    if (user !== null) setBounded(this.#users, userKey, user, USERS_KNOWN_MAX)
    return user
  }

  #add(queue: EndpointQueue, userKey: UserKey, last: number, since: Timestamp): void {
    if (!this.#owned.has(partitionOf(userKey)) || queue.isCaughtUp(userKey, last)) return
    const chain = queue.chains.get(userKey)
    if (chain !== undefined) queue.extend(chain, last, since)
    else if (this.waiting < this.#limits.waitingMax || this.#evictFor(queue)) queue.add(userKey, last, since)
    else this.#isSearchWanted = true
    this.#eager.add(queue)
  }

  /** Makes space at the cost of the endpoint that needs most: its user is found again by a search. False if that is this one. */
  #evictFor(queue: EndpointQueue): boolean {
    const largest = this.#endpoints.largest()
    const evicted = largest === queue ? null : largest?.evictable()
    if (largest === null || evicted === null || evicted === undefined) return false
    largest.drop(evicted)
    return true
  }

  #gained(partitions: ReadonlySet<Partition>): void {
    for (const partition of partitions) this.#owned.add(partition)
    void this.#search()
  }

  async #release(partitions: ReadonlySet<Partition>): Promise<void> {
    for (const partition of partitions) this.#owned.delete(partition)
    const ended: Promise<void>[] = []
    for (const queue of this.#endpoints.all()) {
      queue.forget(partitions)
      for (const chain of queue.chains.values()) {
        if (!partitions.has(partitionOf(chain.userKey))) continue
        ended.push((this.#running.get(chain) ?? this.#runner.flush(queue, chain)).then(() => chain.writing ?? undefined))
        queue.drop(chain)
      }
    }
    await Promise.all(ended)
  }

  async #tick(): Promise<void> {
    for (let tick = 1; !this.#abort.signal.aborted; tick++) {
      try {
        await this.#deps.clock.sleep(TICK_MS, this.#abort.signal)
      } catch {
        return
      }
      const now = this.#deps.clock.now()
      this.#recent.age()
      for (const queue of this.#endpoints.all()) {
        queue.wake(now)
        if (queue.hasWork) this.#eager.add(queue)
      }
      if (tick % REFRESH_TICKS === 0) {
        void this.#flushPassed()
        void this.#refresh()
      }
      if (tick % SEARCH_TICKS === 0 || (this.#isSearchWanted && tick % REFRESH_TICKS === 0)) void this.#search()
      this.#admit()
    }
  }

  async #refresh(): Promise<void> {
    if (await this.#endpoints.refresh()) await this.#search()
  }

  /** Writes which events were passed over: many share a commit, and none has a place. */
  async #flushPassed(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    for (const queue of this.#endpoints.all()) {
      await someAtATime(queue.unwrittenPassed(), FLUSHED_AT_ONCE, async chain => {
        if (queue.takePassed(chain)) await this.#runner.flush(queue, chain)
      })
    }
    this.#isFlushing = false
  }

  /** Finds the users whose logs go on after their cursors. One search at a time. */
  async #search(): Promise<void> {
    this.#isSearchWanted = this.#searching !== null
    this.#searching ??= this.#searchAll().finally(() => {
      this.#searching = null
    })
    await this.#searching
  }

  async #searchAll(): Promise<void> {
    try {
      let after: WebhookBacklog | null = null
      do {
        if (this.#owned.size === 0 || this.#endpoints.isEmpty) return
        const found: readonly WebhookBacklog[] = await this.#deps.webhooks.cursors.behind(new Set(this.#owned), after, SEARCH_PAGE)
        for (const { endpointId, userKey, last, oldestAt } of found) {
          const queue = this.#endpoints.find(endpointId)
          // Its cursor is read when it is tried: this one may be from before the last attempt.
          if (queue !== null) this.#add(queue, userKey, last, oldestAt ?? this.#deps.clock.now())
        }
        after = found.length < SEARCH_PAGE ? null : (found.at(-1) ?? null)
        this.#admit()
      } while (after !== null && !this.#abort.signal.aborted)
    } catch (cause) {
      this.#isSearchWanted = true
      this.#deps.log.warn('users who are behind at webhook endpoints could not be read', { cause })
    }
  }

  /** Begins attempts while there are places: one for each endpoint in its order, then again. */
  #admit(): void {
    for (const queue of this.#eager) {
      if (this.#running.size >= this.#limits.places || this.#abort.signal.aborted) return
      this.#eager.delete(queue)
      const chain = queue.hasWork && this.#places.has(queue) ? queue.take() : null
      if (chain === null) continue
      this.#run(queue, chain, () => this.#next(queue, chain))
      // At the end, so that this loop meets it again after the others.
      this.#eager.add(queue)
    }
  }

  async #next(queue: EndpointQueue, chain: Chain): Promise<Next> {
    const user = await this.#user(chain.userKey)
    return user === null ? 'gone' : await this.#runner.run(queue, chain, user.userId)
  }

  /** A step of a chain that has a place. */
  #run(queue: EndpointQueue, chain: Chain, work: () => Promise<Next>): void {
    const leave = this.#places.take(queue)
    const ended = this.#step(queue, chain, work).finally(() => {
      this.#running.delete(chain)
      for (const next of leave()) this.#eager.add(next)
      // The endpoint's own next user, which found it at its bound.
      if (queue.hasWork) this.#eager.add(queue)
      this.#admit()
    })
    this.#running.set(chain, ended)
  }

  async #step(queue: EndpointQueue, chain: Chain, work: () => Promise<Next>): Promise<void> {
    let next: Next = 'gone'
    try {
      next = await work()
      if (chain.isOver) await this.#runner.flush(queue, chain)
    } catch (cause) {
      this.#deps.log.warn(UNWRITTEN, { endpointId: queue.endpoint.endpointId, cause })
      chain.cursor = null
      chain.isDirty = false
      next = soon(this.#deps.clock.now())
    }
    // As many writes wait as there are places: a slow store slows the attempts.
    if (this.#runner.writing >= this.#limits.places) await chain.writing
    queue.end(chain, next === 'gone' ? 'passed' : next, soon(this.#deps.clock.now()))
    if (next === 'gone') queue.drop(chain)
    if (this.#endpoints.passed > this.#limits.waitingMax) queue.dropPassed()
  }
}
