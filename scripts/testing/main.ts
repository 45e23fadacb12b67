// `npm test` and `npm run check`: checks, then groups of tests, then one line that says it all.
import { resolve } from 'node:path'
import { GROUPS, type Group, type Service, type TestFile, testFiles } from './files.ts'
import { type Options, parseOptions, select, USAGE } from './options.ts'
import { runGroup } from './run-group.ts'
import { type Provided, provide } from './services.ts'
import { runSteps } from './steps.ts'
import { Tally } from './tally.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** Lanes of tests that compute, and of tests that wait. */
const LANES = { busy: 2, waiting: 1 } as const
const FILE_LIMIT_MS: Readonly<Record<Group, number>> = {
  repo: 60_000,
  unit: 240_000,
  acceptance: 480_000,
  browser: 480_000,
  slow: 1_200_000
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

async function main(options: Options, signal: AbortSignal): Promise<boolean> {
  const began = performance.now()
  const tally = new Tally()
  const isNarrowed = options.groups.length > 0 || options.filters.length > 0
  if (!isNarrowed) {
    say('\nchecks')
    await runSteps(ROOT, say, tally)
  }
  const selected = select(testFiles(ROOT), options)
  const services = new Map<Service, Provided>()
  try {
    for (const group of GROUPS) {
      const files = selected.get(group) ?? []
      if (files.length === 0 || signal.aborted) continue
      say(`\n${group}`)
      const runnable = await withServices(files, services, tally)
      const limitMs = FILE_LIMIT_MS[group]
      const [waiting, busy] = [runnable.filter(({ waits }) => waits), runnable.filter(({ waits }) => !waits)]
      await Promise.all([
        runGroup(pathsOf(busy), { root: ROOT, limitMs, concurrency: LANES.busy, signal, say }, tally),
        runGroup(pathsOf(waiting), { root: ROOT, limitMs, concurrency: LANES.waiting, signal, say }, tally)
      ])
    }
  } finally {
    for (const service of services.values()) if ('stop' in service) await service.stop()
  }
  if (signal.aborted) tally.cannotRun('the rest', 'the run was interrupted')
  say(`\n${Math.round((performance.now() - began) / 1000)} s\n\n${tally.summary()}`)
  return tally.succeeded
}

const pathsOf = (files: readonly TestFile[]) => files.map(({ path }) => path)

/** Provides what `files` need, and returns those that have it; the others are counted as impossible. */
async function withServices(files: readonly TestFile[], services: Map<Service, Provided>, tally: Tally): Promise<readonly TestFile[]> {
  for (const need of new Set(files.flatMap(({ needs }) => [...needs]))) {
    if (!services.has(need)) services.set(need, await provide[need](text => say(`  ${text}`)))
  }
  return files.filter(({ path, needs }) => {
    const missing = [...needs].map(need => services.get(need)).find(service => service !== undefined && 'reason' in service)
    if (missing === undefined || !('reason' in missing)) return true
    tally.cannotRun(path, missing.reason)
    return false
  })
}

function optionsOrUsage(): Options | null {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`)
    return null
  }
}

const options = optionsOrUsage()
if (options === null) process.exitCode = 2
else {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  process.once('SIGTERM', () => interrupted.abort())
  process.exitCode = (await main(options, interrupted.signal)) ? 0 : 1
}
