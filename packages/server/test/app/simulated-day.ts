// A random day: a user who places, modifies and cancels, a market that moves, and a broker, a stream and a store that fail in between.
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Order } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import type { CommandKind, CommandPlan, Delivery, ReadPlan } from '@trunkline/testkit/scripted-broker/index'
import type { World } from './bench.ts'
import type { Chance } from './chance.ts'

const ACTIONS = {
  place: 24,
  cancel: 14,
  modify: 12,
  fill: 18,
  begin: 3,
  expire: 2,
  cancelOutside: 2,
  placeOutside: 3,
  streamDown: 4,
  streamUp: 6,
  storeFails: 4,
  readsFail: 4,
  restart: 1.5
} as const

/** Longer than a command takes to arrive, shorter than an absence takes to prove: what is later cannot be told from what never comes. */
const TRAVEL_MS_MAX = 15_000

export class SimulatedDay {
  /** What happened, to be printed when the day goes wrong. */
  readonly diary: string[] = []
  /** What the platform was answered. */
  readonly answers: Order[] = []
  readonly #world: World
  readonly #chance: Chance
  readonly #underWay = new Set<Promise<void>>()
  #wishes = 0
  /** So many writes fail, and reads do until then. */
  #failing = 0
  #readsFailUntil = 0

  constructor(world: World, chance: Chance) {
    this.#world = world
    this.#chance = chance
    const { broker, watched } = world
    broker.plan = kind => this.#commandPlan(kind)
    broker.readPlan = () => this.#readPlan()
    broker.streams.route = report => this.#route(report)
    watched.intercept = call => (call.name === 'orders.record' ? this.#record(call.go) : call.go())
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await this.#act()
      await this.#world.clock.advance(this.#chance.happens(0.7) ? this.#chance.whole(0, 700) : this.#chance.whole(700, 12_000))
    }
  }

  /** Everything behaves again, and there is time for it. */
  async end(): Promise<void> {
    const world = this.#world
    const { book } = world
    world.broker.heal()
    world.watched.intercept = null
    await world.given(Promise.all(this.#underWay))
    // All that travels arrives, and what the broker began it ends; then the account is followed, by a stream that is whole.
    await world.clock.advance(2 * TRAVEL_MS_MAX)
    for (const { brokerOrderId, status } of book.list()) {
      if (status === 'pending_cancel') book.move(brokerOrderId, 'cancelled')
      if (status === 'pending') book.move(brokerOrderId, 'working')
    }
    if (world.broker.capabilities.accountStream) await world.live()
    else world.app.mirrors.want(world.connection)
    await world.clock.until(() => world.app.resolver.watched === 0, 'every order’s fate is known', 7_200_000)
    await world.clock.advance(70_000)
  }

  async #act(): Promise<void> {
    const action = this.#chance.weighted(ACTIONS)
    const world = this.#world
    const { book, streams } = world.broker
    switch (action) {
      case 'place':
        return this.#asked('place', () => world.place({ clOrdId: this.#name(), quantity: String(this.#chance.whole(1, 20)) }))
      case 'cancel':
        return this.#aboutOrder('cancel', order => world.cancel(order))
      case 'modify':
        return this.#aboutOrder('modify', order =>
          world.modify(order, { clOrdId: this.#name(), quantity: String(this.#chance.whole(1, 30)), limitPrice: '11.00' })
        )
      case 'fill':
        return this.#aboutReport('fill', ({ brokerOrderId }) => {
          const left = Number(book.left(brokerOrderId))
          if (left > 0) book.fill(brokerOrderId, String(this.#chance.whole(1, left)))
        })
      case 'begin':
        return this.#aboutReport('begin', ({ brokerOrderId, status }) => status === 'pending' && book.move(brokerOrderId, 'working'))
      case 'expire':
        return this.#aboutReport('expire', ({ brokerOrderId }) => book.move(brokerOrderId, 'expired'))
      case 'cancelOutside':
        return this.#aboutReport('cancelled elsewhere', ({ brokerOrderId }) => book.move(brokerOrderId, 'cancelled'))
      case 'placeOutside': {
        const order = this.#chance.oneOf(book.list())
        if (order !== undefined) book.addOutside({ ...order, quantity: order.quantity }, world.account.brokerAccountId)
        return this.#note('placed elsewhere')
      }
      case 'streamDown':
        streams.down(this.#chance.happens(0.5))
        return this.#note('stream down')
      case 'streamUp':
        streams.up()
        return this.#note('stream up')
      case 'storeFails':
        this.#failing = this.#chance.whole(1, 3)
        return this.#note(`the next ${this.#failing} writes fail`)
      case 'readsFail': {
        this.#readsFailUntil = world.clock.monotonicMs() + this.#chance.whole(500, 30_000)
        return this.#note('reads fail for a while')
      }
      case 'restart':
        this.#note('restart')
        this.#failing = 0
        return await world.restart()
    }
  }

  #name(): string {
    this.#wishes += 1
    // Some names come twice, as they do when a platform repeats itself.
    return `w-${this.#chance.happens(0.05) ? this.#wishes - 1 : this.#wishes}`
  }

  async #aboutOrder(what: string, ask: (order: Order) => Promise<Order>): Promise<void> {
    const order = this.#chance.oneOf((await this.#world.orders()).slice(-6))
    if (order !== undefined) this.#asked(`${what} ${order.clOrdId}`, () => ask(order))
  }

  #aboutReport(what: string, move: (report: OrderReport) => unknown): void {
    const { book } = this.#world
    const report = this.#chance.oneOf(book.list().filter(order => book.isLive(order)))
    if (report === undefined) return
    this.#note(`${what} ${report.brokerOrderId}`)
    move(report)
  }

  /** The platform does not wait: several of its requests are under way at once. */
  #asked(what: string, ask: () => Promise<Order>): void {
    this.#note(what)
    const answered = ask().then(
      order => {
        this.answers.push(order)
        this.#note(`${what}: answered ${order.status}`)
      },
      cause => {
        if (!(cause instanceof ServiceError || cause instanceof StoreUnavailable || cause instanceof CommitUnknown)) throw cause
        this.#note(`${what}: ${cause instanceof ServiceError ? cause.code : cause.name}`)
      }
    )
    const done: Promise<void> = answered.finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
  }

  #note(what: string): void {
    this.diary.push(`${String(this.#world.clock.monotonicMs() - 1_000).padStart(7)} ms  ${what}`)
  }

  #commandPlan(kind: CommandKind): CommandPlan {
    const plan = this.#freshPlan(kind)
    this.#note(`the broker’s ${kind}: ${JSON.stringify(plan)}`)
    return plan
  }

  #freshPlan(kind: CommandKind): CommandPlan {
    const chance = this.#chance
    if (chance.happens(0.45)) return chance.happens(0.5) ? {} : { replyAfterMs: chance.whole(1, 3_000) }
    const effect = chance.weighted({ done: 6, refused: 2, none: 3 })
    const reply = chance.weighted({ truth: 4, unknown: 6, not_sent: 1, throws: 1, deadline: 1, never: 0.3 })
    if (reply === 'not_sent') return { reply, effect: 'none' }
    const plan: CommandPlan = {
      ...{ effect, reply },
      ...(chance.happens(0.4) ? { effectAfterMs: chance.whole(1, TRAVEL_MS_MAX) } : {}),
      ...(chance.happens(0.5) ? { replyAfterMs: chance.whole(1, 9_000) } : {})
    }
    if (kind === 'cancel' && chance.happens(0.2)) return { ...plan, status: 'pending_cancel' }
    return kind === 'submit' && chance.happens(0.2) ? { ...plan, status: 'pending' } : plan
  }

  #readPlan(): ReadPlan {
    if (this.#world.clock.monotonicMs() < this.#readsFailUntil) return { fault: 'unreachable' }
    if (this.#chance.happens(0.85)) return {}
    const kind = this.#chance.weighted({ slow: 4, fault: 3, hides: 2, hangs: 0.5 })
    if (kind === 'slow') return { afterMs: this.#chance.whole(1, 3_000) }
    if (kind === 'fault') return { fault: this.#chance.happens(0.5) ? 'unreachable' : 'rate_limited' }
    if (kind === 'hangs') return { hangs: this.#chance.happens(0.5) ? 'deadline' : 'for_ever' }
    const hidden = this.#chance.whole(0, 5)
    return { hides: ({ brokerOrderId }) => brokerOrderId.endsWith(String(hidden)) }
  }

  #route(report: OrderReport): readonly Delivery[] {
    const chance = this.#chance
    if (chance.happens(0.6)) return [{ report, afterMs: 0 }]
    if (chance.happens(0.3))
      return [
        { report, afterMs: 0 },
        { report, afterMs: chance.whole(1, 2_000) }
      ]
    return [{ report, afterMs: chance.whole(1, 2_000) }]
  }

  async #record(go: () => Promise<unknown>): Promise<unknown> {
    if (this.#failing === 0) return await go()
    this.#failing -= 1
    const how = this.#chance.weighted({ refused: 3, written: 2, unwritten: 2 })
    this.#note(`a write fails: ${how}`)
    if (how === 'refused') throw new StoreUnavailable('no room')
    if (how === 'written') await go()
    throw new CommitUnknown('lost at the commit')
  }
}
