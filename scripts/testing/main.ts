// `npm test` and `npm run check`: checks, then groups of tests, then one summary line.
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { bundle } from './bundles.ts'
import { costs } from './costs.ts'
import { type TestFile, testFiles } from './files.ts'
import { type Options, optionsOrUsage, parseOptions, select, USAGE } from './options.ts'
import { Services } from './services.ts'
import { runSteps } from './steps.ts'
import { runSuite, WORKERS } from './suite.ts'
import { Tally } from './tally.ts'

/** Tests without services start few programs: as many files at a time as there are processors. */
const QUICK_WORKERS_MIN = 2
const QUICK_WORKERS_MAX = 8
const ROOT = resolve(import.meta.dirname, '..', '..')

const print = (text: string) => void process.stdout.write(`${text}\n`)

async function main(options: Options, signal: AbortSignal): Promise<boolean> {
  const began = performance.now()
  const tally = new Tally()
  const isNarrowed = options.groups.length > 0 || options.filters.length > 0 || options.isSearch
  if (options.isSearch) process.env.TRUNKLINE_SEARCH = 'whole'
  const checked = isNarrowed ? null : runChecks(tally)
  // Beside a server's tests, which know limits of time, nothing else should compute.
  if (!options.isQuick) await checked
  const [verdicts] = await Promise.all([tested(options, signal, tally), checked])
  for (const verdict of verdicts) tally.judge(verdict)
  if (signal.aborted) tally.cannotRun('the rest', 'the run was interrupted')
  print(`\n${costs(verdicts, performance.now() - began)}\n\n${tally.summary()}`)
  return tally.succeeded
}

async function runChecks(tally: Tally): Promise<void> {
  print('\nchecks')
  await runSteps(ROOT, print, tally)
}

/** The services have ended when this returns, so that their usage is known. */
async function tested(options: Options, signal: AbortSignal, tally: Tally) {
  await using services = new Services(print, (path, reason) => tally.cannotRun(path, reason))
  const prepare = services.ready.bind(services)
  const workers = options.isQuick ? Math.min(QUICK_WORKERS_MAX, Math.max(QUICK_WORKERS_MIN, availableParallelism())) : WORKERS
  const files = select(testFiles(ROOT), options)
  const preload = await bundled(files)
  return await runSuite(files, { root: ROOT, preload, signal, print, prepare, workers, hasSecondTries: !options.isQuick })
}

/** Files that share a process load the same modules once; the others run from bundles, and so do the programs that they start. */
async function bundled(files: readonly TestFile[]): Promise<string | null> {
  const alone = files.filter(({ shares, group }) => !shares && group !== 'repo').map(({ path }) => path)
  return alone.length === 0 ? null : await bundle(ROOT, alone)
}

const options = optionsOrUsage(parseOptions, USAGE)
if (options !== null) {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  process.once('SIGTERM', () => interrupted.abort())
  process.exitCode = (await main(options, interrupted.signal)) ? 0 : 1
}
