// A steady load for the specified time, with disturbances around it; then the check whether the service has returned to its earlier state.
import { fileURLToPath } from 'node:url'
import { knownKeys } from '../../packages/server/test/faults/known-keys.ts'
import { copyStore } from '../../packages/server/test/store/template.ts'
import { Chance, ConsistencyCheck, World } from '../../packages/testkit/src/crash/index.ts'
import { type Disturbances, disturb } from './disturbances.ts'
import { type Reading, Sampler } from './sampler.ts'
import { verdictOf } from './verdict.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))
const TRADERS = 10
const ACCOUNTS_OF_EACH = 2
const ONLOOKERS = 40
/** The average time between two operations of an account: about eight per second for twenty accounts. */
const PAUSE_MS = 2_500
const READINGS = 120
const WARM_MS = 120_000
/** A reading takes time too, and as long again on a busy machine; a verdict needs ten. */
const READ_EVERY_MS = { least: 400, most: 15_000 }

export interface SoakOptions {
  readonly minutes: number
  readonly seed: number
  readonly print: (line: string) => void
}

/** Returns whether everything was flat, and all records agreed at the end. */
export async function soak({ minutes, seed, print }: SoakOptions): Promise<boolean> {
  const keys = knownKeys()
  const chance = new Chance(seed)
  await using world = await World.open({ main: MAIN, database: copyStore, env: keys.env, chance })
  const accord = new ConsistencyCheck(world, keys.nameOf)
  for (let number = 1; number <= ONLOOKERS; number += 1) await world.join(world.platform, `onlooker-${number}`, 1)
  const sampler = new Sampler(world)
  await world.populate(TRADERS, ACCOUNTS_OF_EACH, sampler.delivered)
  // Connections that are still being opened are not a leak.
  await accord.streamMatchesSandbox(WARM_MS)
  print(`seed ${seed}: ${TRADERS * ACCOUNTS_OF_EACH} accounts trade, ${world.users.length} users are followed, for ${minutes} minutes`)
  print(HEADINGS)
  const { readings, seen } = await endure(world, { minutes, chance, sampler, print })
  print(`${seen.visits} sessions came and went, ${seen.slowSpells} slow spells, ${seen.drops} streams were dropped at the sandbox`)
  const verdict = verdictOf(readings)
  for (const line of verdict.lines) print(line)
  return (await everybodyAgrees(accord, print)) && verdict.isFlat
}

async function endure(
  world: World,
  {
    minutes,
    chance,
    sampler,
    print
  }: { readonly minutes: number; readonly chance: Chance; readonly sampler: Sampler; readonly print: SoakOptions['print'] }
): Promise<{ readonly readings: readonly Reading[]; readonly seen: Disturbances }> {
  const over = AbortSignal.timeout(minutes * 60_000)
  const everyMs = Math.min(READ_EVERY_MS.most, Math.max(READ_EVERY_MS.least, (minutes * 60_000) / READINGS))
  const traders = world.users.filter(({ login }) => login.accounts.length === ACCOUNTS_OF_EACH)
  const [readings, seen] = await Promise.all([
    sampler.until(over, everyMs, reading => print(rowOf(reading))),
    disturb(world, chance.apart(), over),
    world.trade({ name: 'soak', operations: Number.POSITIVE_INFINITY, pauseMs: PAUSE_MS, users: traders, signal: over })
  ])
  return { readings, seen }
}

async function everybodyAgrees(accord: ConsistencyCheck, print: SoakOptions['print']): Promise<boolean> {
  try {
    await accord.reached()
    await accord.logsAreWhole()
    print('The answers of reads, the logs, the data of followers and the sandbox are the same.')
    return true
  } catch (cause) {
    print(`NOT THE SAME: ${cause instanceof Error ? cause.message : cause}`)
    return false
  }
}

const COLUMNS = ['time', 'resident', 'in use', 'descriptors', 'loop p99', 'orders', 'updates', 'delay p50', 'delay p99']
const HEADINGS = COLUMNS.map(name => name.padStart(12)).join('')

function rowOf({ atMs, rssBytes, heldBytes, descriptors, loopMs, orders, updates, delayMs }: Reading): string {
  const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`
  const ms = (value: number) => (Number.isNaN(value) ? '-' : `${value.toFixed(1)} ms`)
  const cells = [
    `${(atMs / 1_000).toFixed(0)} s`,
    mb(rssBytes),
    mb(heldBytes),
    String(descriptors),
    ms(loopMs),
    String(orders),
    String(updates),
    ms(delayMs.median),
    ms(delayMs.p99)
  ]
  return cells.map(cell => cell.padStart(12)).join('')
}
