// A file that failed beside others runs once more by itself: if it passes then, it is unsteady, and does not fail the run.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { detailsOf, type Print, report } from './report.ts'
import type { FileResult } from './run-file.ts'

/** With more failures than these, a busy machine is not the cause. */
export const SECOND_TRIES_MAX = 3

/** The folder for both outputs of an unsteady file, relative to the checkout. */
export const OUTPUT_FOLDER = 'test-results/unsteady'

/** The result that counts for a file: its only one, or its second one together with the first. */
export interface Verdict {
  readonly result: FileResult
  readonly first: FileResult | null
}

export interface SecondTries {
  readonly root: string
  readonly print: Print
  /** Runs a file by itself. */
  readonly alone: (path: string) => Promise<FileResult>
}

/** Deletes the outputs of an earlier run. */
export function deleteOldOutputs(root: string): void {
  rmSync(join(root, OUTPUT_FOLDER), { recursive: true, force: true })
}

/** One verdict for each result. Files that failed are tried again, unless there are more than SECOND_TRIES_MAX of them. */
export async function trySecond(results: readonly FileResult[], { root, print, alone }: SecondTries): Promise<readonly Verdict[]> {
  const failed = results.filter(({ failures }) => failures.length > 0)
  if (failed.length > SECOND_TRIES_MAX) {
    print(`\n${failed.length} files failed. With more than ${SECOND_TRIES_MAX}, none is tried a second time.`)
  }
  if (failed.length === 0 || failed.length > SECOND_TRIES_MAX) return results.map(result => ({ result, first: null }))

  print('\nsecond tries, each file alone')
  const seconds = new Map<string, FileResult>()
  for (const first of failed) {
    const second = await alone(first.path)
    seconds.set(first.path, second)
    report(second, print)
    if (second.failures.length === 0 && second.output.trim() !== '') print(detailsOf(second))
    keep(root, first, second)
  }
  return results.map(result => {
    const second = seconds.get(result.path)
    return second === undefined ? { result, first: null } : { result: second, first: result }
  })
}

function keep(root: string, first: FileResult, second: FileResult): void {
  const folder = join(root, OUTPUT_FOLDER)
  mkdirSync(folder, { recursive: true })
  for (const [name, result] of Object.entries({ first, second })) {
    writeFileSync(join(folder, `${first.path.replaceAll('/', '__')}.${name}.txt`), textOf(result))
  }
}

function textOf(result: FileResult): string {
  const { path, passed, failures, durationMs } = result
  return `${path}: ${passed} passed, ${failures.length} failed, ${(durationMs / 1000).toFixed(1)} s\n${detailsOf(result)}`
}
