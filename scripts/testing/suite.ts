// The test files of a run, by several workers, and then a second try of those that failed.
import type { Group, TestFile } from './files.ts'
import type { Print } from './report.ts'
import { type Batch, runBatches } from './run-batches.ts'
import { runFile } from './run-file.ts'
import { deleteOldOutputs, trySecond, type Verdict } from './second-tries.ts'

/**
 * Files at a time of tests that compute, for any number of processors: some start several programs, and all wait now and then. With three,
 * two processors were idle a quarter of the time.
 */
export const WORKERS = 4
const WAITING_WORKERS = 1
/** Few enough that a batch that crashes costs little, and that all workers end at about the same time. */
const BATCH_FILES = 16

const MINUTE_MS = 60_000
/**
 * A limit only for files that hang: several times what the most expensive file takes under heavy load, and short compared with a whole run.
 */
export const FILE_LIMIT_MS: Readonly<Record<Group, number>> = {
  repo: 4 * MINUTE_MS,
  unit: 5 * MINUTE_MS,
  acceptance: 10 * MINUTE_MS,
  browser: 12 * MINUTE_MS,
  slow: 10 * MINUTE_MS
}

export interface Suite {
  readonly root: string
  /** For first tries. Second ones run from the sources, so that a failure names lines that exist. */
  readonly preload: string | null
  readonly signal: AbortSignal
  readonly print: Print
  /** Provides what files need, and returns those that can run. */
  readonly prepare: (files: readonly TestFile[]) => Promise<readonly TestFile[]>
  /** Files at a time of those that compute. */
  readonly workers: number
  /** False: a file that fails is not tried again. */
  readonly hasSecondTries: boolean
}

/** What fails soonest comes first, and then the longest files, so that all workers end at about the same time. */
const ORDER: readonly Group[] = ['repo', 'unit', 'slow', 'browser', 'acceptance']

/** Files without needs run while what the others need is started. */
export async function runSuite(files: readonly TestFile[], suite: Suite): Promise<readonly Verdict[]> {
  const { root, preload, signal, print, prepare, workers, hasSecondTries } = suite
  const ordered = files.toSorted((a, b) => ORDER.indexOf(a.group) - ORDER.indexOf(b.group))
  const ready = prepare(ordered.filter(({ needs }) => needs.size > 0))
  const run = (waits: boolean, concurrency: number) => {
    const batches = (some: readonly TestFile[]) => batchesOf(some.filter(file => file.waits === waits))
    const options = { root, preload, concurrency, signal, print, later: ready.then(batches) }
    return runBatches(batches(ordered.filter(({ needs }) => needs.size === 0)), options)
  }
  const results = (await Promise.all([run(false, workers), run(true, WAITING_WORKERS)])).flat()
  if (!hasSecondTries || signal.aborted) return results.map(result => ({ result, first: null }))
  deleteOldOutputs(root)
  const groups = new Map(files.map(({ path, group }) => [path, group]))
  const limitOf = (path: string) => FILE_LIMIT_MS[groups.get(path) ?? 'slow']
  return await trySecond(results, { root, print, alone: path => runFile(path, { root, limitMs: limitOf(path), signal }) })
}

/** Neighbours load the same modules, so they share a process. */
function batchesOf(files: readonly TestFile[]): readonly Batch[] {
  const shared = files.filter(({ shares }) => shares).map(({ path }) => path)
  const batches = Array.from({ length: Math.ceil(shared.length / BATCH_FILES) }, (_, index) => ({
    paths: shared.slice(index * BATCH_FILES, (index + 1) * BATCH_FILES),
    limitMs: FILE_LIMIT_MS.unit
  }))
  return [...batches, ...files.filter(({ shares }) => !shares).map(({ path, group }) => ({ paths: [path], limitMs: FILE_LIMIT_MS[group] }))]
}
