// A real store whose calls are carried out one at a time, in an order that chance decides: what is at once in the service happens here in
// every order it may, and in the same one again. Calls fail, are late, or are never answered, as planned.
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import {
  CommitUnknown,
  type ConnectionStore,
  type EventStore,
  type LoggedEvent,
  type Store,
  StoreUnavailable
} from '@trunkline/core/ports/store'
import type { Chance } from './chance.ts'
import type { Life } from './life.ts'
import { SceneSlots } from './scene-slots.ts'
import type { Trace } from './trace.ts'

/** What becomes of one call. Left out: it is carried out when its turn comes. */
export interface StorePlan {
  /** Refused before anything happened; or its answer is lost, whether it was carried out or not. */
  readonly fault?: 'refused' | 'written' | 'unwritten'
  /** How long it is before it can be carried out. */
  readonly afterMs?: number
}

/** What a call is made under. `enter` is called right before it is carried out, `wrote` after it, with the user of each event. */
export interface Terms {
  enter(): void
  wrote(name: string, userKey: UserKey): void
}

/** The store of one node, which is given a call's terms when the call is made. */
export interface NodeStore {
  readonly store: Store
  terms(): Terms
}

interface Call {
  readonly name: string
  readonly life: Life
  readonly terms: Terms | null
  readonly plan: StorePlan
  readonly go: () => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: unknown) => void
}

interface Surroundings {
  readonly clock: Clock
  readonly chance: Chance
  readonly trace: Trace
}

/** What is younger is not erased: nobody who listens is as far behind. */
const RETAINED_MS = 60_000
const READS = /\.(find|list|read$|last|span|balances|positions|transactions|freshness|credentials|unfinished|idsBy|withUnfinished|due)/

export class SteppedStore {
  /** For the harness itself: nothing stands before it. */
  readonly inner: Store
  plan: (name: string, isRead: boolean, life: Life) => StorePlan = () => ({})
  /** A life takes up these users' connections only: other scenes have theirs in the same database. */
  readonly users = new Set<UserKey>()
  /** Newest event of each user that the store holds, published or not. */
  readonly committed = new Map<UserKey, number>()
  readonly slots: SceneSlots
  /** What was committed at earlier times, the oldest first. */
  readonly #marks: { readonly atMs: number; readonly committed: ReadonlyMap<UserKey, number> }[] = []
  /** Of each user, the newest event that is not kept any more. */
  readonly #pruned = new Map<UserKey, number>()
  readonly #surroundings: Surroundings
  #waiting: Call[] = []

  constructor(inner: Store, surroundings: Surroundings) {
    this.inner = inner
    this.#surroundings = surroundings
    this.slots = new SceneSlots(surroundings.clock)
  }

  /** The store as one life of the service has it: its own, where there are nodes. */
  of(life: Life, node: NodeStore | null = null): Store {
    const part = <Part extends object>(name: keyof Store, real: Part) => this.#stepped(String(name), real, life, node)
    const inner = node?.store ?? this.inner
    return {
      platforms: part('platforms', inner.platforms),
      platformKeys: part('platformKeys', inner.platformKeys),
      users: part('users', inner.users),
      attempts: part('attempts', inner.attempts),
      connections: part('connections', this.#ownOnly(inner.connections)),
      accounts: part('accounts', inner.accounts),
      orders: part('orders', inner.orders),
      events: part('events', this.#retained(inner.events)),
      streamSlots: part('streamSlots', this.slots),
      tokens: part('tokens', inner.tokens),
      audit: part('audit', inner.audit),
      // No day has webhooks.
      webhooks: inner.webhooks,
      probe: () => this.#call({ name: 'probe', life, terms: null, go: () => inner.probe() }).then(() => undefined),
      [Symbol.asyncDispose]: async () => undefined
    }
  }

  /** Carries out what is no part of the store, in turn with its calls. */
  async ordered(name: string, life: Life, go: () => Promise<unknown>): Promise<void> {
    await life.lived(this.#call({ name, life, terms: null, go }))
  }

  /** Carries out what is next, and gives whether there was anything. To be called when nobody else has anything to do. */
  async rest(): Promise<boolean> {
    const calls = this.#next()
    const answers = await Promise.all(calls.map(call => this.#carryOut(call)))
    for (const answer of answers) answer()
    return calls.length > 0
  }

  /** Remembers what is committed now. */
  mark(): void {
    this.#marks.push({ atMs: this.#surroundings.clock.monotonicMs(), committed: new Map(this.committed) })
  }

  /** Erases the events of a while ago. */
  prune(): void {
    const beforeMs = this.#surroundings.clock.monotonicMs() - RETAINED_MS
    const mark = this.#marks.findLast(({ atMs }) => atMs < beforeMs)
    for (const [userKey, seq] of mark?.committed ?? []) {
      this.#surroundings.trace.note(`the log of ${userKey} begins after ${seq}`)
      this.#pruned.set(userKey, seq)
    }
  }

  /** The calls of a process that was killed: some were on their way already, and happen. */
  bury(life: Life): void {
    const { chance } = this.#surroundings
    this.#waiting = this.#waiting.filter(call => call.life !== life || chance.happens(0.5))
  }

  #next(): readonly Call[] {
    const { chance } = this.#surroundings
    const first = chance.happens(0.5) ? this.#waiting[0] : chance.oneOf(this.#waiting)
    if (first === undefined) return []
    // Order changes that wait together may share a commit.
    const isShared = first.name === 'orders.record' && chance.happens(0.5)
    const calls = isShared ? this.#waiting.filter(({ name, life }) => name === first.name && life === first.life) : [first]
    this.#waiting = this.#waiting.filter(call => !calls.includes(call))
    return calls
  }

  /** Gives how to answer the caller. */
  async #carryOut({ name, life, terms, plan, go, resolve, reject }: Call): Promise<() => void> {
    this.#surroundings.trace.mix(name)
    if (plan.fault === 'refused') return () => reject(new StoreUnavailable(`the simulated store refuses ${name}`))
    const lost = () => reject(new CommitUnknown(`the simulated store lost the answer to ${name}`))
    if (plan.fault === 'unwritten') return lost
    try {
      terms?.enter()
      const value = await go()
      for (const { userKey, seq } of eventsIn(value)) {
        this.committed.set(userKey, Math.max(seq, this.committed.get(userKey) ?? 0))
        if (!READS.test(name)) terms?.wrote(name, userKey)
      }
      if (life.isOver) return () => undefined
      return plan.fault === 'written' ? lost : () => resolve(value)
    } catch (cause) {
      return life.isOver ? () => undefined : () => reject(cause)
    }
  }

  async #call({ name, life, terms, go }: Pick<Call, 'name' | 'life' | 'terms' | 'go'>): Promise<unknown> {
    if (life.isOver) return await new Promise(() => undefined)
    const plan = this.plan(name, READS.test(name), life)
    if (plan.fault !== undefined) {
      this.#surroundings.trace.note(`the store’s ${name}: ${plan.fault}`)
      this.#surroundings.trace.met(`store: ${plan.fault}`)
    }
    if (plan.afterMs !== undefined) await this.#late(plan.afterMs, life, terms)
    return await new Promise((resolve, reject) => {
      if (!life.isOver) this.#waiting.push({ name, life, terms, plan, go, resolve, reject })
    })
  }

  /** A node that stands still has sent what is on its way. */
  #late(ms: number, life: Life, terms: Terms | null): Promise<void> {
    const late = this.#surroundings.clock.sleep(ms)
    return terms === null ? life.lived(late) : late
  }

  /** A process that stands still receives no answer. */
  #answered(life: Life, call: Pick<Call, 'name' | 'life' | 'terms' | 'go'>): Promise<unknown> {
    return call.terms === null ? this.#call(call) : life.lived(this.#call(call))
  }

  #stepped<Part extends object>(part: string, target: Part, life: Life, node: NodeStore | null): Part {
    return new Proxy(target, {
      get: (real, method) => {
        const value: unknown = Reflect.get(real, method, real)
        if (typeof value !== 'function') return value
        return (...given: readonly unknown[]) =>
          this.#answered(life, {
            ...{ name: `${part}.${String(method)}`, life, terms: node?.terms() ?? null },
            go: async () => await Reflect.apply(value, real, given)
          })
      }
    })
  }

  #retained(events: EventStore): EventStore {
    const pruned = (userKey: UserKey) => this.#pruned.get(userKey) ?? 0
    return {
      read: (userKey, after, limit) => events.read(userKey, Math.max(after, pruned(userKey)), limit),
      last: userKey => events.last(userKey),
      lasts: userKeys => events.lasts(userKeys),
      span: async userKey => {
        const { oldest, last } = await events.span(userKey)
        return { oldest: last === 0 ? oldest : Math.max(oldest, pruned(userKey) + 1), last }
      },
      prune: (at, limit) => events.prune(at, limit)
    }
  }

  #ownOnly(connections: ConnectionStore): ConnectionStore {
    return new Proxy(connections, {
      get: (real, method) => {
        const value: unknown = Reflect.get(real, method, real)
        if (method !== 'withUnfinishedOrders') return typeof value === 'function' ? value.bind(real) : value
        return async () => (await real.withUnfinishedOrders()).filter(({ userKey }) => this.users.has(userKey))
      }
    })
  }
}

/** The events that a write gave: those of account records by themselves, those of orders within their results. */
function eventsIn(value: unknown): readonly Pick<LoggedEvent, 'userKey' | 'seq'>[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null) return []
    const event: unknown = 'kind' in item && 'event' in item ? item.event : item
    return isEvent(event) ? [event] : []
  })
}

function isEvent(value: unknown): value is LoggedEvent {
  return typeof value === 'object' && value !== null && 'seq' in value && 'eventId' in value && 'userKey' in value
}
