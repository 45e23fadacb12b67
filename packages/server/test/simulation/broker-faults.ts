// The faults of a broker: what becomes of commands and reads, and how its stream delivers, loses, repeats and delays what happens.
import type { OrderReport } from '@trunkline/core/ports/broker'
import type { CommandKind, CommandPlan, Delivery, ReadPlan } from '@trunkline/testkit/scripted-broker/index'
import type { Chance } from './chance.ts'
import type { Login, Scene } from './scene.ts'

/**
 * Longer than a command takes to arrive, shorter than an absence takes to prove: what is later cannot be distinguished from what never
 * comes.
 */
export const TRAVEL_MS_MAX = 15_000

/** Which kinds of faults a broker has at all, and how much. Each between 0 and 1. */
export interface Temper {
  readonly commands: number
  readonly reads: number
  readonly lists: number
  readonly stream: number
}

export class BrokerFaults {
  readonly #scene: Scene
  readonly #login: Login
  readonly #chance: Chance
  readonly #temper: Temper
  #isWell = false
  /** Reads fail until then. */
  #failsUntil = 0
  #failsAs: 'unreachable' | 'rate_limited' = 'unreachable'

  constructor(scene: Scene, login: Login, chance: Chance, temper: Temper) {
    this.#scene = scene
    this.#login = login
    this.#chance = chance
    this.#temper = temper
    const { broker } = login
    broker.listsBy = chance.happens(0.7) ? 'updatedAt' : 'entryTime'
    broker.reports = chance.happens(0.8) ? 'fills' : 'totals'
    broker.plan = kind => this.#commandPlan(kind)
    broker.readPlan = () => this.#readPlan()
    broker.streams.route = report => this.#route(report)
  }

  /** No read is answered for a while. */
  fail(ms: number, as: 'unreachable' | 'rate_limited'): void {
    this.#scene.trace.note(`${this.#login.broker.capabilities.id} answers no read for ${ms} ms`)
    this.#failsUntil = this.#scene.clock.monotonicMs() + ms
    this.#failsAs = as
  }

  /** Everything behaves from now on. */
  heal(): void {
    this.#isWell = true
    this.#login.broker.heal()
  }

  /** The broker pushes the positions of an account, as some do after every fill: now, or as it was a while ago. */
  pushPositions(brokerAccountId: string): void {
    const { broker } = this.#login
    const asOf = this.#scene.clock.now()
    const positions = { items: broker.holdings(brokerAccountId), asOf }
    const send = () => broker.streams.push({ type: 'positions', brokerAccountId, positions })
    for (const afterMs of this.#delays()) {
      if (afterMs === 0) send()
      else void this.#scene.clock.sleep(afterMs).then(send)
    }
  }

  #commandPlan(kind: CommandKind): CommandPlan {
    if (this.#isWell) return {}
    const plan = this.#chance.happens(this.#temper.commands) ? this.#faultyPlan(kind) : this.#goodPlan()
    this.#scene.trace.note(`${this.#login.broker.capabilities.id} is sent a ${kind}: ${JSON.stringify(plan)}`)
    return plan
  }

  #goodPlan(): CommandPlan {
    return this.#chance.happens(0.5) ? {} : { replyAfterMs: this.#chance.whole(1, 3_000) }
  }

  #faultyPlan(kind: CommandKind): CommandPlan {
    const chance = this.#chance
    const effect = chance.weighted({ done: 6, refused: 2, none: 3 })
    const reply = chance.weighted({ truth: 4, unknown: 6, not_sent: 1, throws: 1, deadline: 1, never: 0.3 })
    this.#scene.trace.met(`${kind}: ${effect}, ${reply}`)
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
    if (this.#isWell) return {}
    const chance = this.#chance
    if (this.#scene.clock.monotonicMs() < this.#failsUntil) return { fault: this.#failsAs }
    if (!chance.happens(this.#temper.reads)) return {}
    const kind = chance.weighted({ slow: 4, fault: 3, late: 3 * this.#temper.lists, hides: 2 * this.#temper.lists, hangs: 0.5, renews: 1 })
    this.#scene.trace.met(`read: ${kind}`)
    if (kind === 'slow') return { afterMs: chance.whole(1, 3_000) }
    if (kind === 'late') return { travelsMs: chance.whole(1, 4_000) }
    if (kind === 'fault') return { fault: chance.weighted({ unreachable: 2, rate_limited: 1, malformed: 1 }) }
    if (kind === 'renews') return { renews: true }
    if (kind === 'hangs') return { hangs: chance.happens(0.5) ? 'deadline' : 'for_ever' }
    const hidden = chance.whole(0, 5)
    return { hides: ({ brokerOrderId }) => brokerOrderId.endsWith(String(hidden)) }
  }

  #route(report: OrderReport): readonly Delivery[] {
    return this.#delays().map(afterMs => ({ report, afterMs }))
  }

  #delays(): readonly number[] {
    const chance = this.#chance
    if (this.#isWell || !chance.happens(this.#temper.stream)) return [0]
    const kind = chance.weighted({ late: 5, twice: 3, lost: 1 })
    this.#scene.trace.met(`stream: ${kind}`)
    if (kind === 'lost') return []
    return kind === 'late' ? [chance.whole(1, 2_000)] : [0, chance.whole(1, 2_000)]
  }
}
