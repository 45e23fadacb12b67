// Runs test files, some at a time, and reports each as it ends.
import { type Print, report } from './report.ts'
import type { FileResult, RunOptions } from './run-file.ts'
import { runShared } from './run-shared.ts'

export interface GroupOptions extends RunOptions {
  readonly concurrency: number
  readonly print: Print
}

/**
 * The results of all files, in the order in which they ended. An interrupted run has fewer. The files of a batch share a process; a
 * batch may be a single path.
 */
export async function runGroup(batches: readonly (string | readonly string[])[], options: GroupOptions): Promise<readonly FileResult[]> {
  const queue = [...batches]
  const results: FileResult[] = []
  const worker = async () => {
    for (let batch = queue.shift(); batch !== undefined && !options.signal.aborted; batch = queue.shift()) {
      for (const result of await runShared([batch].flat(), options)) {
        results.push(result)
        report(result, options.print)
      }
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
  return results
}
