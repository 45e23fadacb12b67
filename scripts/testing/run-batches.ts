// Runs test files, some at a time, and reports each as it ends.
import { type Print, report } from './report.ts'
import type { FileResult, RunOptions } from './run-file.ts'
import { runShared } from './run-shared.ts'

/** Files that share a process, or a single one. */
export interface Batch {
  readonly paths: readonly string[]
  /** For a file that runs by itself. */
  readonly limitMs: number
}

export interface BatchOptions extends Omit<RunOptions, 'limitMs'> {
  /** More batches, for workers that have nothing else to do. */
  readonly later?: Promise<readonly Batch[]>
  readonly concurrency: number
  readonly print: Print
}

/** The results of all files, in the order in which they ended. An interrupted run has fewer. */
export async function runBatches(batches: readonly Batch[], options: BatchOptions): Promise<readonly FileResult[]> {
  const { concurrency, print, later = Promise.resolve([]), ...runOptions } = options
  const queue = [...batches]
  const results: FileResult[] = []
  const added = later.then(more => void queue.push(...more))
  const next = async () => {
    if (queue.length === 0) await added
    return queue.shift()
  }
  const worker = async () => {
    for (let batch = await next(); batch !== undefined && !runOptions.signal.aborted; batch = await next()) {
      for (const result of await runShared(batch.paths, { ...runOptions, limitMs: batch.limitMs })) {
        results.push(result)
        report(result, print)
      }
    }
  }
  await Promise.all([added, ...Array.from({ length: concurrency }, worker)])
  return results
}
