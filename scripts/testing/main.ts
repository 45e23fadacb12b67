// `npm test` and `npm run check`: checks, then groups of tests, then one line that says it all.
import { resolve } from 'node:path'
import { costs } from './costs.ts'
import { type Service, type TestFile, testFiles } from './files.ts'
import { type Options, parseOptions, select, USAGE } from './options.ts'
import type { Verdict } from './second-tries.ts'
import { type Provided, provide } from './services.ts'
import { runSteps } from './steps.ts'
import { runSuite } from './suite.ts'
import { Tally } from './tally.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')

const say = (text: string) => void process.stdout.write(`${text}\n`)

async function main(options: Options, signal: AbortSignal): Promise<boolean> {
  const began = performance.now()
  const tally = new Tally()
  const isNarrowed = options.groups.length > 0 || options.filters.length > 0
  if (!isNarrowed) {
    say('\nchecks')
    await runSteps(ROOT, say, tally)
  }
  const services = new Map<Service, Provided>()
  let verdicts: readonly Verdict[] = []
  try {
    const prepare = (files: readonly TestFile[]) => withServices(files, services, tally)
    const suite = { root: ROOT, signal, say, prepare, hasSecondTries: !options.isQuick }
    verdicts = await runSuite(select(testFiles(ROOT), options), suite)
  } finally {
    for (const service of services.values()) if ('stop' in service) await service.stop()
  }
  for (const verdict of verdicts) tally.judge(verdict)
  if (signal.aborted) tally.cannotRun('the rest', 'the run was interrupted')
  say(`\n${costs(verdicts, performance.now() - began)}\n\n${tally.summary()}`)
  return tally.succeeded
}

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
