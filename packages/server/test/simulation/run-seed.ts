// One seed from its first to its last moment.
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import type { Store } from '@trunkline/core/ports/store'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { Chance } from './chance.ts'
import { check } from './checks.ts'
import { Day } from './day.ts'
import type { Sabotage } from './sabotage.ts'
import { type Cast, openScene, type Scene } from './scene.ts'
import type { NodesDatabase } from './stores.ts'
import type { Habits } from './stream-client.ts'
import { Trace } from './trace.ts'

export interface RunOptions {
  /** Gets every line of the trace as it is written. */
  readonly listener?: (line: string) => void
  readonly sabotage?: () => Sabotage
  readonly isRough?: boolean
}

/** What a day is stored in, and how many processes serve it. */
export interface Ground {
  readonly store: Store
  readonly machines: number
  /** Several nodes have a database that knows their fences; it has one day at a time. */
  readonly nodes: NodesDatabase | null
}

export interface SeedResult {
  readonly seed: number
  /** Equal whenever the same seed is run by the same program. */
  readonly hash: string
  /** Virtual milliseconds that passed. */
  readonly lastedMs: number
  readonly updates: number
  /** What happened, and how often. */
  readonly counts: ReadonlyMap<string, number>
}

const LINES_SHOWN = 60

/** A seed whose day did not end well. The message has its last steps. */
export class SeedFailed extends Error {
  override readonly name = 'SeedFailed'
  readonly seed: number

  constructor(seed: number, machines: number, trace: Trace, cause: unknown) {
    const details = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    const lines = `Its last ${Math.min(LINES_SHOWN, trace.lines.length)} of ${trace.lines.length} lines:\n${trace.tail(LINES_SHOWN)}`
    const nodes = machines === 1 ? '' : ` --nodes ${machines}`
    super(`seed ${seed} failed. Again, with every step: npm run simulate -- --seed ${seed}${nodes}\n${trace.plain(details)}\n\n${lines}`, {
      cause
    })
    this.seed = seed
  }
}

/** @throws SeedFailed */
export async function runSeed({ store, machines, nodes }: Ground, seed: number, options: RunOptions = {}): Promise<SeedResult> {
  const chance = new Chance(seed)
  const clock = new VirtualClock()
  const trace = new Trace(() => clock.monotonicMs() - 1_000, options.listener)
  try {
    const scene = await openScene(store, castOf(chance.apart('cast'), machines), { clock, chance, trace })
    const steps = chance.whole(15, 75)
    const day = new Day(scene, {
      ...{ steps, machines, database: nodes, isRough: options.isRough === true },
      clients: clientsOf(scene, chance.apart('habits')),
      ...(options.sabotage && { sabotage: options.sabotage })
    })
    await nodes?.reset()
    await day.run()
    await day.end()
    await check(day)
    await day.stop()
    const updates = [...scene.store.committed.values()].reduce((sum, seq) => sum + seq, 0)
    return { seed, hash: trace.hash, lastedMs: clock.monotonicMs() - 1_000, updates, counts: trace.counts }
  } catch (cause) {
    throw new SeedFailed(seed, machines, trace, cause)
  }
}

function castOf(chance: Chance, nodes: number): Cast {
  const logins = (): readonly Partial<BrokerCapabilities>[] =>
    Array.from({ length: chance.happens(0.7) ? 1 : 2 }, () => ({
      deduplication: chance.weighted({ enforced: 6, bounded: 2, open_only: 2, label: 2, none: 3 }),
      replacedOrderId: chance.weighted({ new: 3, same: 2 }),
      accountStream: chance.happens(0.85)
    }))
  return {
    users: Array.from({ length: Number(chance.weighted({ 1: 4, 2: 5, 3: 1 })) }, logins),
    isEarly: () => chance.happens(0.5),
    accountsOf: () => (chance.happens(0.75) ? 1 : 2),
    nodes
  }
}

function clientsOf({ owners }: Scene, chance: Chance): readonly Habits[] {
  return Array.from({ length: chance.whole(1, 3) }, (_, index) => {
    const some = owners.filter(() => chance.happens(0.8))
    return {
      name: `client-${index + 1}`,
      users: some.length === 0 ? owners : some,
      topics: topicsOf(chance),
      wantsStatus: chance.happens(0.5),
      resumes: chance.happens(0.7)
    }
  })
}

function topicsOf(chance: Chance): Habits['topics'] {
  if (chance.happens(0.7)) return [['all']]
  const [first, second] = chance.happens(0.5) ? ['orders', 'positions'] : ['balances', 'orders']
  return chance.happens(0.5)
    ? [[first, second].filter(topic => topic !== undefined)]
    : [first, second].flatMap(topic => (topic === undefined ? [] : [[topic]]))
}
