// Four brokers over one sandbox, days of orders and faults: once it is healed, every record agrees with the sandbox's state.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { ofSearch } from '@trunkline/testkit/search'
import { until } from '@trunkline/testkit/until'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { testDeps } from '../store/deps.ts'
import { copyStore } from '../store/template.ts'
import { complaints } from './four-checks.ts'
import { FourDay, type Level } from './four-day.ts'
import { FourWorld } from './four-world.ts'

/** `FOUR_DAYS=7-30` lives the days of those seeds, `FOUR_DAYS=7` that one; `FOUR_DAYS_LEVEL` says how much goes wrong. */
const SEEDS = seedsOf(process.env.FOUR_DAYS ?? `1-${ofSearch(12, 1)}`)
const LEVEL = process.env.FOUR_DAYS_LEVEL ?? ''
const LEVELS: readonly Level[] = [1, 2, 3, 4]

let store: SqlStore
let directory: string
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trunkline-four-'))
  await copyStore(join(directory, 'data'))
  store = await openStore({ kind: 'embedded', dataDir: join(directory, 'data') }, testDeps())
})
after(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

for (const seed of SEEDS)
  test(`the day of seed ${seed} ends with the sandbox and every broker of one mind`, async () => {
    const level = levelOf(seed)
    await using world = await FourWorld.open(store, seed)
    const day = new FourDay(world, new SeededChance(seed), level)
    await day.live()
    let found: readonly string[] = []
    const isWell = async () => {
      found = await complaints(world)
      return found.length === 0
    }
    await until(isWell, 'all is as the sandbox says', PATIENCE_MS).catch(() => undefined)
    const problems = [...day.wrong, ...found]
    assert.equal(problems.length, 0, failureText(seed, level, problems, day, world))
  })

function failureText(seed: number, level: Level, problems: readonly string[], { steps }: FourDay, { logged }: FourWorld): string {
  const log = logged
    .slice(-60)
    .map(({ level: of, message, fields }) => `${of} ${message} ${JSON.stringify(fields)} ${String(fields.cause ?? '')}`)
  const again = `FOUR_DAYS=${seed} FOUR_DAYS_LEVEL=${level} npm test -- four-days.slow`
  return [`seed ${seed}, level ${level} (${again}):`, ...problems, '', 'steps:', ...steps, '', 'log:', ...log].join('\n')
}

function levelOf(seed: number): Level {
  const chosen = LEVEL === '' ? seed % LEVELS.length : Number(LEVEL) - 1
  return LEVELS[chosen] ?? 4
}

function seedsOf(text: string): readonly number[] {
  const [first = 1, last = first] = text.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
