// The test files of a run: group by group, by several workers, and then a second try of those that failed.
import { GROUPS, type Group, type TestFile } from './files.ts'
import type { Print } from './report.ts'
import { type FileResult, runFile } from './run-file.ts'
import { runGroup } from './run-group.ts'
import { deleteOldOutputs, trySecond, type Verdict } from './second-tries.ts'

/**
 * Files at a time of tests that compute, for any number of processors: some start several programs, and all wait now and then. With two,
 * two processors were idle a quarter of the time.
 */
export const WORKERS = 3
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

/** Runs the files of every group, one group after the other. */
export async function runSuite(files: readonly TestFile[], suite: Suite): Promise<readonly Verdict[]> {
  const { root, preload, signal, print, prepare, workers, hasSecondTries } = suite
  const groups = new Map(files.map(({ path, group }) => [path, group]))
  const limitOf = (path: string) => FILE_LIMIT_MS[groups.get(path) ?? 'slow']
  const results: FileResult[] = []
  for (const group of GROUPS) {
    const wanted = files.filter(file => file.group === group)
    if (wanted.length === 0 || signal.aborted) continue
    print(`\n${group}`)
    const runnable = await prepare(wanted)
    const run = (waits: boolean, concurrency: number) =>
      runGroup(batchesOf(runnable.filter(file => file.waits === waits)), {
        root,
        preload,
        limitMs: FILE_LIMIT_MS[group],
        concurrency,
        signal,
        print
      })
    results.push(...(await Promise.all([run(false, workers), run(true, WAITING_WORKERS)])).flat())
  }
  if (!hasSecondTries || signal.aborted) return results.map(result => ({ result, first: null }))
  deleteOldOutputs(root)
  return await trySecond(results, { root, print, alone: path => runFile(path, { root, limitMs: limitOf(path), signal }) })
}

/** Neighbours load the same modules, so they share a process. */
function batchesOf(files: readonly TestFile[]): readonly (string | readonly string[])[] {
  const shared = files.filter(({ shares }) => shares).map(({ path }) => path)
  const batches = Array.from({ length: Math.ceil(shared.length / BATCH_FILES) }, (_, index) =>
    shared.slice(index * BATCH_FILES, (index + 1) * BATCH_FILES)
  )
  return [...batches, ...files.filter(({ shares }) => !shares).map(({ path }) => path)]
}
