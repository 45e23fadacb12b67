// `npm run steady`: runs test files repeatedly under load, in a different order each time, and lists what did not pass every time.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SeededChance } from '@trunkline/testkit/chance'
import { testFiles } from './files.ts'
import { startHogs } from './hogs.ts'
import { optionsOrUsage, parseSteadyOptions, STEADY_USAGE, type SteadyOptions, select } from './options.ts'
import { detailsOf } from './report.ts'
import { Rounds } from './rounds.ts'
import { runBatches } from './run-batches.ts'
import { Services } from './services.ts'
import { FILE_LIMIT_MS } from './suite.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const OUTPUT_FOLDER = 'test-results/steady'

const print = (text: string) => void process.stdout.write(`${text}\n`)

async function main(options: SteadyOptions, signal: AbortSignal): Promise<boolean> {
  const { rounds, workers, hogs, seed } = options
  const chance = new SeededChance(seed)
  const seen = new Rounds()
  rmSync(join(ROOT, OUTPUT_FOLDER), { recursive: true, force: true })
  await using services = new Services(print, (path, reason) => seen.impossible(path, reason))
  const files = (await services.ready(select(testFiles(ROOT), options))).map(({ path }) => path)
  await using _load = startHogs(hogs)
  for (let round = 1; round <= rounds && !signal.aborted; round += 1) {
    print(`\nround ${round} of ${rounds}: ${files.length} files in ${workers} workers, beside ${hogs} busy threads`)
    const batches = chance.shuffled(files).map(path => ({ paths: [path], limitMs: FILE_LIMIT_MS.slow }))
    for (const result of await runBatches(batches, { root: ROOT, concurrency: workers, signal, print })) {
      if (signal.aborted) break
      seen.add(result)
      if (result.failures.length > 0) keep(`${result.path.replaceAll('/', '__')}.${round}.txt`, detailsOf(result))
    }
    if (!signal.aborted) seen.ended()
  }
  print(`\n${seen.summary(`seed ${seed}, ${workers} workers, ${hogs} busy threads`, OUTPUT_FOLDER)}`)
  return seen.isSteady
}

function keep(name: string, text: string): void {
  mkdirSync(join(ROOT, OUTPUT_FOLDER), { recursive: true })
  writeFileSync(join(ROOT, OUTPUT_FOLDER, name), `${text}\n`)
}

const options = optionsOrUsage(parseSteadyOptions, STEADY_USAGE)
if (options !== null) {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  process.once('SIGTERM', () => interrupted.abort())
  process.exitCode = (await main(options, interrupted.signal)) ? 0 : 1
}
