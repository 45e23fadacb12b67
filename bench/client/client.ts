/** Orders through the TypeScript client while most answers are lost: how many are doubled, lost, or reported as something else. */

import { parseArgs } from 'node:util'
import { SeededChance } from '@trunkline/testkit/chance'
import { emptyOutcome, type Outcome, openScene, placeThroughFaults } from '../../packages/client/test/lost-answers/load.ts'
import { InvalidOptions } from '../harness/errors.ts'
import { ENGINES } from '../harness/service.ts'
import { line } from '../harness/stats.ts'

/** Users are new in each round, so that what the sandbox keeps of each is compared as a whole. */
const USERS = 8
const ORDERS_PER_ROUND = 800
const AT_ONCE = 32

export async function client(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { engine: { type: 'string', default: 'embedded' }, answers: { type: 'string', default: '100000' }, seed: { type: 'string' } }
  })
  const engine = ENGINES.find(name => name === values.engine)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const answers = whole('answers', values.answers)
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : whole('seed', values.seed)
  process.stdout.write(`seed ${seed}\n`)
  const chance = new SeededChance(seed)
  const outcome = emptyOutcome()
  const started = performance.now()
  await using scene = await openScene(engine)
  while (outcome.faults < answers) {
    const users = []
    for (let count = 0; count < USERS; count += 1) users.push(await scene.user())
    await placeThroughFaults(scene, users, { count: ORDERS_PER_ROUND, atOnce: AT_ONCE, chance }, outcome)
    const seconds = Math.round((performance.now() - started) / 1_000)
    process.stdout.write(`  after ${seconds} s: ${outcome.faults} answers lost, ${outcome.findings.length} findings\n`)
    if (outcome.findings.length > 0) break
  }
  process.stdout.write(`\n${report(outcome).join('\n')}\n`)
  if (outcome.findings.length > 0) process.exitCode = 1
}

function report({ placed, unknown, refused, findings, faults, byFault }: Outcome): readonly string[] {
  const others = [...refused.values()].reduce((sum, count) => sum + count, 0)
  return [
    line('answers lost or spoiled', String(faults), '', null),
    ...[...byFault].sort().map(([fault, count]) => line(`… ${fault}`, String(count), '', null)),
    line('orders reported as placed', String(placed), '', null),
    line('orders reported as unknown', String(unknown), '', null),
    ...[...refused].map(([code, count]) => line(`orders reported as ${code}`, String(count), '', null)),
    line('orders doubled, lost, or reported as something else', String(findings.length), '0', findings.length === 0),
    line('orders refused', String(others), '0', others === 0),
    ...findings.slice(0, 20)
  ]
}

function whole(name: string, given: string): number {
  if (!/^\d{1,9}$/.test(given)) throw new InvalidOptions(`--${name} takes a whole number, not ${given}`)
  return Number(given)
}
