// Runs test files, some at a time, and reports each as it ends.
import { type Print, report } from './report.ts'
import { type FileResult, type RunOptions, runFile } from './run-file.ts'

export interface GroupOptions extends RunOptions {
  readonly concurrency: number
  readonly print: Print
}

/** The results of `paths`, in the order in which they ended. An interrupted run has fewer. */
export async function runGroup(paths: readonly string[], options: GroupOptions): Promise<readonly FileResult[]> {
  const queue = [...paths]
  const results: FileResult[] = []
  const worker = async () => {
    for (let path = queue.shift(); path !== undefined && !options.signal.aborted; path = queue.shift()) {
      const result = await runFile(path, options)
      results.push(result)
      report(result, options.print)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
  return results
}
