// Runs a group of test files, some at a time, and prints a line for each file and the whole story of each failure.
import { type FileResult, type RunOptions, runFile } from './run-file.ts'
import type { Tally } from './tally.ts'

export interface GroupOptions extends RunOptions {
  readonly concurrency: number
  readonly say: (text: string) => void
}

/** Adds the results of all `paths` to `tally`. */
export async function runGroup(paths: readonly string[], options: GroupOptions, tally: Tally): Promise<void> {
  const queue = [...paths]
  const worker = async () => {
    for (let path = queue.shift(); path !== undefined && !options.signal.aborted; path = queue.shift()) {
      report(await runFile(path, options), tally, options.say)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
}

function report({ path, passed, failures, durationMs, output }: FileResult, tally: Tally, say: (text: string) => void): void {
  tally.pass(passed)
  const seconds = `${(durationMs / 1000).toFixed(1)} s`
  if (failures.length === 0) {
    say(`  ok    ${path} (${passed}, ${seconds})`)
    return
  }
  say(`  FAIL  ${path} (${passed} passed, ${failures.length} failed, ${seconds})`)
  for (const { name, line, story } of failures) {
    const what = `${path}${line === null ? '' : `:${line}`} › ${name}`
    tally.fail(what)
    say(`\n    ${what}\n${indent(story, '      ')}\n`)
  }
  if (output.trim() !== '') say(`    what the file printed, at the end:\n${indent(output.trimEnd(), '      | ')}\n`)
}

function indent(text: string, by: string): string {
  return text.replaceAll(/^/gm, by)
}
