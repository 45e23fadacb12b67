import { setTimeout as pause } from 'node:timers/promises'
import { inParallel } from '../harness/pace.ts'
import { type ProcessorTimes, processorTimes, timesOf } from '../harness/processor.ts'
import type { Engine, RunningService } from '../harness/service.ts'
import type { ConnectedUser, Stage } from '../harness/stage.ts'
import { line } from '../harness/stats.ts'
import { atMaximumRate, openScene } from '../stream/pipeline.ts'
import { openOrderFloor } from './floor.ts'
import { LoadAgent, someUsers } from './orders.ts'
import { probes } from './probes.ts'

/** Enough for the kernel's clock, which counts processor time in steps of 10 ms. */
const ORDERS_PER_SECOND = 300
const WARM_ORDERS = 1_500
const PROBES = 20_000
const PROBES_AT_ONCE = 16
/** Until what follows an order is done: the reads of holdings, the audit chain. */
const AFTER_MS = 2_000
/** On a quiet machine. */
const UPDATE_MICROS_MAX = 40
/** In units of `GET /healthz`. Of 64 at once no target is set. */
const TARGET: Readonly<Record<Engine, Readonly<Record<string, Readonly<Record<number, number>>>>>> = {
  postgres: { service: { 1: 16, 16: 10 }, database: { 1: 16, 16: 8 } },
  embedded: { service: { 1: 45, 16: 20 } }
}

/**
 * Processor time per order, from its request to its fill and what follows, by process. The unit is the processor time of `GET /healthz` in
 * the same run, so that the figures of different machines can be compared.
 */
export async function orderCost(stage: Stage, seconds: number, atOnceOf: readonly number[]): Promise<readonly string[]> {
  const users = await someUsers(stage)
  using agent = new LoadAgent()
  await ordersAtOnce(agent, stage, users, { name: 'warm', count: WARM_ORDERS, atOnce: PROBES_AT_ONCE })
  const unit = await unitOf(stage)
  const lines = [line('GET /healthz, service', `${unit.toFixed(0)} µs`, '', null)]
  const count = Math.round(seconds * ORDERS_PER_SECOND)
  for (const atOnce of atOnceOf) {
    const cost = await costOf(stage, count, () => ordersAtOnce(agent, stage, users, { name: `at-${atOnce}`, count, atOnce }))
    for (const [name, micros] of cost) {
      const target = TARGET[stage.engine][name]?.[atOnce] ?? null
      const units = micros / unit
      lines.push(
        line(
          `an order, ${countOf(atOnce)}: ${name}`,
          `${units.toFixed(1)} (${micros.toFixed(0)} µs)`,
          target === null ? '' : `at most ${target}`,
          target === null ? null : units <= target
        )
      )
    }
  }
  return stage.databaseUrl === null ? lines : [...lines, ...(await floorCost(stage, stage.databaseUrl, { unit, count, atOnceOf }))]
}

/** The same of a program that does only what no order can do without, in the service's units. */
async function floorCost(
  stage: Stage,
  databaseUrl: string,
  { unit, count, atOnceOf }: { readonly unit: number; readonly count: number; readonly atOnceOf: readonly number[] }
): Promise<readonly string[]> {
  await using floor = await openOrderFloor(stage, databaseUrl)
  using agent = new LoadAgent()
  const { users } = floor
  await ordersAtOnce(agent, floor, users, { name: 'warm', count: WARM_ORDERS, atOnce: PROBES_AT_ONCE })
  const lines: string[] = []
  for (const atOnce of atOnceOf) {
    const cost = await costOf(floor, count, () => ordersAtOnce(agent, floor, users, { name: `floor-${atOnce}`, count, atOnce }))
    for (const [name, micros] of cost)
      lines.push(
        line(`the floor of an order, ${countOf(atOnce)}: ${name}`, `${(micros / unit).toFixed(1)} (${micros.toFixed(0)} µs)`, '', null)
      )
  }
  return lines
}

function countOf(atOnce: number): string {
  return atOnce === 1 ? 'one by one' : `${atOnce} at once`
}

/** Processor time of an order's change from the broker's message to a session, by process, in the same unit. */
export async function updateCost(engine: Engine, seconds: number): Promise<readonly string[]> {
  await using scene = await openScene(engine, [])
  const { cost } = await atMaximumRate(scene, engine, seconds)
  const unit = await unitOf(scene.running)
  return ['service', 'database'].flatMap(name => {
    const micros = cost.get(name)
    if (micros === undefined) return []
    const isTarget = name === 'service' && engine === 'postgres'
    return line(
      `a broker’s update of an order: ${name}`,
      `${(micros / unit).toFixed(1)} (${micros.toFixed(0)} µs)`,
      isTarget ? `at most ${UPDATE_MICROS_MAX} µs` : '',
      isTarget ? micros <= UPDATE_MICROS_MAX : null
    )
  })
}

/** Processor time of a health check in microseconds, of a service that is warm. */
async function unitOf(running: RunningService): Promise<number> {
  const { baseUrl } = running.platform
  await probes(baseUrl, { count: PROBES / 4, atOnce: PROBES_AT_ONCE, firstAddress: 0 })
  const cost = await costOf(running, PROBES, () => probes(baseUrl, { count: PROBES, atOnce: PROBES_AT_ONCE, firstAddress: 5_000 }))
  return cost.get('service') ?? Number.NaN
}

/** Processor time per piece in microseconds, by process. */
async function costOf({ service }: Pick<RunningService, 'service'>, count: number, work: () => Promise<void>): Promise<ProcessorTimes> {
  const named = { service: service.pid }
  const before = processorTimes(named)
  await work()
  await pause(AFTER_MS)
  return timesOf(before, processorTimes(named), count)
}

interface Load {
  readonly name: string
  readonly count: number
  readonly atOnce: number
}

/** @throws Error if an order is not filled. */
async function ordersAtOnce(
  agent: LoadAgent,
  stage: Pick<Stage, 'platform'>,
  users: readonly ConnectedUser[],
  { name, count, atOnce }: Load
): Promise<void> {
  await inParallel(count, atOnce, async index => {
    const { status } = await agent.order(stage, users, `${name}-${index}`, index)
    if (status !== 'filled') throw new Error(`an order of the bench is ${status}, not filled`)
  })
}
