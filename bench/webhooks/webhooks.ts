/**
 * Webhooks: from the answer to an order, which has been logged then, to the message at an endpoint that says the same; alone, and beside an
 * endpoint that is dead.
 */

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { InvalidOptions } from '../harness/errors.ts'
import { Figures } from '../harness/figures.ts'
import { ENGINES } from '../harness/service.ts'
import { openStage } from '../harness/stage.ts'
import { median, spreadOf } from '../harness/stats.ts'
import type { EndpointKind } from './receiver-requests.ts'
import { type Measured, openScene } from './scene.ts'

const MEDIAN_MS_MAX = 50
const P99_MS_MAX = 1_000
/** How much a dead endpoint may add to the 99th percentile of another. */
const MOVED_MAX = 0.1
const WARM_SECONDS = 5
const ENV = { TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' }

/** The endpoints that are enabled while orders are placed. */
const SITUATIONS = {
  'no endpoint': [],
  alone: ['answering'],
  'beside one that never answers': ['answering', 'silent'],
  'beside one that refuses connections': ['answering', 'refusing']
} as const satisfies Readonly<Record<string, readonly EndpointKind[]>>
type Situation = keyof typeof SITUATIONS

const DEAD: readonly Situation[] = ['beside one that never answers', 'beside one that refuses connections']
/** As often alone as beside a dead one, in turn: the other load of a machine changes from minute to minute. */
const ROUND: readonly Situation[] = ['no endpoint', ...DEAD.flatMap(dead => ['alone' as const, dead])]

interface Part {
  readonly situation: Situation
  readonly measured: Measured
}

export async function webhooks(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      engine: { type: 'string', default: 'postgres' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '50' },
      users: { type: 'string', default: '50' },
      /** A directory for processor profiles of the service. */
      profile: { type: 'string' }
    }
  })
  const engine = ENGINES.find(name => name === values.engine)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  await using scene = await openScene(await openStage(engine, { env: ENV, flags }), Number(values.users))
  const [perSecond, seconds] = [Number(values.rate), Number(values.seconds)]
  await scene.measure(SITUATIONS.alone, perSecond, WARM_SECONDS)
  const parts: Part[] = []
  for (let round = 1; round <= Number(values.rounds); round += 1)
    for (const situation of ROUND) {
      const measured = await scene.measure(SITUATIONS[situation], perSecond, seconds)
      parts.push({ situation, measured })
      process.stdout.write(`  round ${round}, ${situation}: ${shown(measured)}; load ${loadavg()[0]?.toFixed(1)}\n`)
    }
  report(parts, perSecond)
}

function shown({ latencies, service, database }: Measured): string {
  const { median: middle, p99, max } = spreadOf(latencies)
  const times = latencies.length === 0 ? '' : `${middle.toFixed(1)}, ${p99.toFixed(0)}, ${max.toFixed(0)} ms; `
  return `${times}an order ${service.toFixed(0)}, ${database.toFixed(0)} µs`
}

function report(parts: readonly Part[], perSecond: number): void {
  const figures = new Figures(['Found'])
  const add = (what: string, found: string, target = '', reached: boolean | null = null) =>
    figures.add('Found', { what, found, target, reached })
  const of = (situation: Situation) => parts.flatMap(part => (part.situation === situation ? part.measured : []))
  const spread = (situation: Situation) => spreadOf(of(situation).flatMap(({ latencies }) => latencies))
  process.stdout.write('\n')
  const alone = spread('alone')
  const reached = alone.median <= MEDIAN_MS_MAX
  add(
    `From an order's answer to its message, ${perSecond} /s: median`,
    `${alone.median.toFixed(1)} ms`,
    `at most ${MEDIAN_MS_MAX} ms`,
    reached
  )
  add('… 99th percentile', `${alone.p99.toFixed(0)} ms`, `at most ${P99_MS_MAX} ms`, alone.p99 <= P99_MS_MAX)
  const each = of('alone').map(({ latencies }) => spreadOf(latencies).p99)
  add('… of each measurement alone', `${Math.min(...each).toFixed(0)} to ${Math.max(...each).toFixed(0)} ms`)
  for (const situation of DEAD) {
    const { median: middle, p99 } = spread(situation)
    const moved = p99 / alone.p99 - 1
    const percent = `${moved < 0 ? '−' : '+'}${Math.abs(100 * moved).toFixed(0)} %`
    const found = `${middle.toFixed(1)}, ${p99.toFixed(0)} ms (${percent})`
    add(`… ${situation}: median, 99th percentile`, found, `at most +${100 * MOVED_MAX} %`, moved <= MOVED_MAX)
  }
  for (const situation of ['no endpoint', 'alone', ...DEAD] as const) {
    const [service, database] = [median(of(situation).map(each => each.service)), median(of(situation).map(each => each.database))]
    add(`… processor time of an order, ${situation}`, `service ${service.toFixed(0)}, database ${database.toFixed(0)} µs`)
  }
  const sum = (count: (measured: Measured) => number) => of('alone').reduce((total, measured) => total + count(measured), 0)
  const counts = [sum(({ events }) => events), sum(({ messages }) => messages), sum(({ connections }) => connections)]
  add('… events, messages, connections opened, alone', counts.map(count => count.toLocaleString('en')).join(', '))
  process.stdout.write(`\n${figures.table()}`)
}
