/**
 * Power cuts: acknowledged writes survive whatever unsynced writes the disk loses. The negative controls show that the harness would
 * notice: stock PGlite, and a disk that lies about fsync, both lose data. TRUNKLINE_POWERCUT_SEEDS=1000 runs more rounds,
 * TRUNKLINE_POWERCUT_SEEDS=17-17 repeats one of them.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isWhole, ofSearch } from '@trunkline/testkit/search'
import type { Inspection } from './children/inspect.ts'
import { randomFrom } from './children/random.ts'
import { startChild } from './children/run.ts'
import type { WorkloadInput } from './children/workload.ts'
import { copyDataDir, emptyDirectory, freshDataDir } from './template.ts'

const CONTROL_ROUNDS = ofSearch(5, 3)
/** Two rounds with a cut in the first steps and three anywhere, one of each with a second cut. */
const SHARE = '5-9'
const WORKERS = Math.max(1, Math.min(4, availableParallelism()))

interface Round {
  readonly seed: number
  readonly acknowledged: number
  /** The fault; null if there is none. */
  readonly wrong: string | null
}

test('no acknowledged transaction is lost in a power cut', async t => {
  const rounds = await run(t, seedsWanted(), seed => {
    const random = randomFrom(seed)
    // The first steps of a start are few and special, so the first seeds take them one by one.
    const first = seed <= 6 ? seed : 1 + Math.floor(random() * 600)
    // Every third round has a second cut, during the recovery from the first or shortly after it.
    return { mode: 'durable', lie: false, cuts: seed % 3 === 0 ? [first, 1 + Math.floor(random() * 60)] : [first] }
  })
  const acknowledged = rounds.reduce((sum, round) => sum + round.acknowledged, 0)
  t.diagnostic(`${rounds.length} rounds, ${acknowledged} acknowledged transactions`)
  assert.deepEqual(bad(rounds), [])
  assert.ok(acknowledged > rounds.length, 'the rounds must acknowledge something, or nothing was tested')
})

test('control: PGlite without fsync loses data, and the harness sees it', async t => {
  const rounds = await run(t, controlSeeds(), () => ({ mode: 'stock', lie: false, cuts: [300] }), mostLost)
  t.diagnostic(bad(rounds).join('; '))
  assert.ok(mostLost(rounds), `only ${bad(rounds).length} of ${CONTROL_ROUNDS} rounds were seen to lose data`)
})

test('control: a disk that lies about fsync loses data, and the harness sees it', async t => {
  const rounds = await run(t, controlSeeds(), () => ({ mode: 'durable', lie: true, cuts: [300] }), mostLost)
  t.diagnostic(bad(rounds).join('; '))
  assert.ok(mostLost(rounds), `only ${bad(rounds).length} of ${CONTROL_ROUNDS} rounds were seen to lose data`)
})

function seedsWanted(): readonly number[] {
  const wanted = process.env.TRUNKLINE_POWERCUT_SEEDS ?? (isWhole ? '100' : SHARE)
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(wanted) ?? []
  if (first === undefined)
    throw new Error(`TRUNKLINE_POWERCUT_SEEDS must be a number of seeds or a range like 17-20, was ${JSON.stringify(wanted)}`)
  const [from, to] = last === undefined ? [1, Number(first)] : [Number(first), Number(last)]
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}

function controlSeeds(): readonly number[] {
  return Array.from({ length: CONTROL_ROUNDS }, (_, n) => 9_001 + n)
}

/** Whether more than half of a control's rounds have lost data, however the others end. */
function mostLost(rounds: readonly Round[]): boolean {
  return bad(rounds).length > CONTROL_ROUNDS / 2
}

function bad(rounds: readonly Round[]): readonly string[] {
  return rounds.flatMap(({ seed, wrong }) => (wrong === null ? [] : [`seed ${seed}: ${wrong}`]))
}

type Plan = { readonly mode: WorkloadInput['mode']; readonly lie: boolean; readonly cuts: readonly number[] }

/** Runs the rounds on a few workers, each on its own copy of one template, until those that were played are enough. */
async function run(
  context: TestContext,
  seeds: readonly number[],
  planOf: (seed: number) => Plan,
  areEnough: (rounds: readonly Round[]) => boolean = () => false
): Promise<readonly Round[]> {
  const template = await freshDataDir(context)
  const folder = emptyDirectory(context)
  const waiting = seeds.values()
  const rounds: Round[] = []
  const worker = async (): Promise<void> => {
    for (const seed of waiting) {
      if (areEnough(rounds)) return
      const dataDir = join(folder, `${seed}`)
      copyDataDir(template, dataDir)
      rounds.push(await round(dataDir, seed, planOf(seed)))
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  return rounds
}

async function round(dataDir: string, seed: number, { mode, lie, cuts }: Plan): Promise<Round> {
  const notes = `${dataDir}.notes`
  let from = 1
  for (const cutAt of cuts) {
    const input: WorkloadInput = { dataDir, notes, mode, from, cut: { seed, cutAt, lie } }
    const child = startChild('./workload.ts', input)
    const { signal, code } = await child.ended
    if (signal !== 'SIGKILL') return { seed, acknowledged: 0, wrong: `ended by itself (${code}): ${child.stderr().slice(0, 300)}` }
    from += 1_000_000
  }
  const acknowledged = acknowledgedIn(notes)
  return { seed, acknowledged: acknowledged.length, wrong: await inspect(dataDir, acknowledged) }
}

/** The numbers of the transactions that were reported durable. */
function acknowledgedIn(notes: string): readonly number[] {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n') : []
  return lines.filter(line => line.startsWith('A ')).map(line => Number(line.slice(2)))
}

/** Inspects the database in a separate process: a damaged database may take its process with it. */
async function inspect(dataDir: string, acknowledged: readonly number[]): Promise<string | null> {
  const child = startChild('./inspect.ts', { dataDir })
  const { code, signal } = await child.ended
  const report = code === 0 ? child.lines.at(-1) : undefined
  if (report === undefined) return `does not open or read (${code ?? signal}): ${child.stderr().slice(0, 200)}`
  const { entries, mirror, indexesAgree }: Inspection = JSON.parse(report)
  const [there, mirrored] = [new Set(entries), new Set(mirror)]
  const lost = acknowledged.filter(n => !there.has(n) || !mirrored.has(n)).length
  const complaints = [
    lost > 0 ? `${lost} of ${acknowledged.length} acknowledged transactions lost` : '',
    there.symmetricDifference(mirrored).size > 0 ? 'a transaction is half there' : '',
    entries.some(n => n % 5 === 0) ? 'a transaction that was rolled back is there' : '',
    indexesAgree ? '' : 'an index and its table differ'
  ].filter(complaint => complaint !== '')
  return complaints.length === 0 ? null : complaints.join(', ')
}
