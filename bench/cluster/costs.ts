/** What several nodes add: orders and updates through all of them beside a process that runs alone, in one run. */

import { setTimeout as pause } from 'node:timers/promises'
import { type ProcessorTimes, perPiece, processorTimes, timesOf } from '../harness/processor.ts'
import { line, type Spread, spreadOf } from '../harness/stats.ts'
import { ClusterLoad } from './load.ts'
import { passedTrades, updateLatency } from './sessions.ts'
import { type ClusterStage, openCluster } from './stage.ts'

/** Orders per second. */
const RATE = 50
const AT_ONCE = 16
/** Of each node: code that runs seldom is not compiled yet. */
const WARM_ORDERS = 1_500
const ORDERS_PER_SECOND = 300
/** Until the reads of holdings after an order are done. */
const AFTER_MS = 2_000
/** Until an owner knows which users other nodes follow. */
const SETTLED_MS = 15_000
const COST_MAX = 1.3

interface Found {
  readonly order: Spread
  readonly update: Spread
  /** Null with one node. */
  readonly trade: Spread | null
  /** Processor time in microseconds, by process: a second without orders, … */
  readonly idle: ProcessorTimes
  /** … and of an order, without that: at the rate, with some at once in all, and with as many at once for each node. */
  readonly paced: ProcessorTimes
  readonly few: ProcessorTimes
  readonly many: ProcessorTimes
}

export async function costs(seconds: number, count: number, profile: string | undefined): Promise<void> {
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const alone = await measured(1, seconds, [])
  const several = await measured(count, seconds, flags)
  const spreads = (what: string, of: (found: Found) => Spread) => [line(what, `${both(of(alone))} → ${both(of(several))}`, '', null)]
  const times = (what: string, max: number | null, of: (found: Found) => ProcessorTimes) => costLines(what, max, of(alone), of(several))
  const lines = [
    `one node → ${count} nodes; latencies: median, 99th percentile`,
    ...spreads(`an order at ${RATE}/s`, ({ order }) => order),
    ...spreads('… its update, at a session on every node', ({ update }) => update),
    ...(several.trade === null ? [] : [line('a trade passed through: behind the owner’s session', both(several.trade), '', null)]),
    ...times('processor time without orders, a second', null, ({ idle }) => idle),
    ...times(`processor time per order at ${RATE}/s, without that`, COST_MAX, ({ paced }) => paced),
    ...times('… with that', COST_MAX, ({ paced, idle }) => plus(paced, idle, RATE)),
    ...times(`processor time per order, ${AT_ONCE} at once in all`, COST_MAX, ({ few }) => few),
    ...times(`… ${AT_ONCE} at once for each node`, COST_MAX, ({ many }) => many)
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function costLines(what: string, max: number | null, alone: ProcessorTimes, several: ProcessorTimes): readonly string[] {
  const [before, now] = [total(alone), total(several)]
  const found = `${before.toFixed(0)} → ${now.toFixed(0)} µs, × ${(now / before).toFixed(2)}`
  return [
    line(what, found, max === null ? '' : `at most × ${max}`, max === null ? null : now <= max * before),
    line('    by process', `${perPiece(alone)} → ${perPiece(several)}`, '', null)
  ]
}

async function measured(count: number, seconds: number, flags: readonly string[]): Promise<Found> {
  await using stage = await openCluster(count, { flags })
  using load = await ClusterLoad.open(stage)
  await load.atOnce('warm', WARM_ORDERS * count, AT_ONCE)
  await pause(SETTLED_MS)
  const idle = (await timed(stage, () => pause(1_000 * seconds))).perSecond
  const paced = await timed(stage, () => load.atRate('paced', RATE, seconds))
  const orders = Math.round(seconds * ORDERS_PER_SECOND)
  const few = await timed(stage, () => load.atOnce('few', orders, AT_ONCE))
  const many = await timed(stage, () => load.atOnce('many', orders, AT_ONCE * count))
  const update = await updateLatency(stage, load, { perSecond: RATE, seconds })
  const trade = count === 1 ? null : await passedTrades(stage, load, seconds)
  const ofOrders = ({ all, spanMs }: Timed<unknown>, pieces: number) => plus(perOne(all, pieces), idle, -pieces / (spanMs / 1_000))
  return {
    order: spreadOf(paced.result.map(({ dueAt, filledAt }) => filledAt - dueAt)),
    update,
    trade,
    idle,
    paced: ofOrders(paced, paced.result.length),
    few: ofOrders(few, orders),
    many: ofOrders(many, orders)
  }
}

interface Timed<T> {
  readonly result: T
  readonly spanMs: number
  /** Processor time in microseconds, by process. */
  readonly all: ProcessorTimes
  readonly perSecond: ProcessorTimes
}

async function timed<T>({ pids }: ClusterStage, work: () => Promise<T>): Promise<Timed<T>> {
  const [begun, before] = [performance.now(), processorTimes(pids)]
  const result = await work()
  await pause(AFTER_MS)
  const [spanMs, all] = [performance.now() - begun, timesOf(before, processorTimes(pids), 1)]
  return { result, spanMs, all, perSecond: perOne(all, spanMs / 1_000) }
}

function perOne(times: ProcessorTimes, count: number): ProcessorTimes {
  return new Map([...times].map(([name, micros]) => [name, micros / count]))
}

/** Times per piece, and what the processes take without pieces, at so many pieces a second; a negative rate subtracts that. */
function plus(times: ProcessorTimes, idle: ProcessorTimes, perSecond: number): ProcessorTimes {
  return new Map([...times].map(([name, micros]) => [name, micros + (idle.get(name) ?? 0) / perSecond]))
}

function total(times: ProcessorTimes): number {
  return [...times.values()].reduce((sum, micros) => sum + micros, 0)
}

function both({ median, p99 }: Spread): string {
  return `${median.toFixed(2)}, ${p99.toFixed(2)} ms`
}
