// What a person reads about one test file: a line, and the whole story of each failure.
import type { FileResult, TestFailure } from './run-file.ts'

export type Say = (text: string) => void

/** `path:line › test`, the name of a failure in every list. */
export function nameOf(path: string, { name, line }: TestFailure): string {
  return `${path}${line === null ? '' : `:${line}`} › ${name}`
}

export function report(result: FileResult, say: Say): void {
  const { path, passed, failures, durationMs, processorMs } = result
  const seconds = `${inSeconds(durationMs)}, ${processorMs === null ? 'processor unknown' : `processor ${inSeconds(processorMs)}`}`
  if (failures.length === 0) say(`  ok    ${path} (${passed}, ${seconds})`)
  else say(`  FAIL  ${path} (${passed} passed, ${failures.length} failed, ${seconds})\n${storyOf(result)}`)
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** The failures of a file and the end of what it printed, indented. */
export function storyOf({ path, failures, output }: FileResult): string {
  const stories = failures.map(failure => `\n    ${nameOf(path, failure)}\n${indent(failure.story, '      ')}\n`)
  if (output.trim() !== '') stories.push(`    what the file printed, at the end:\n${indent(output.trimEnd(), '      | ')}\n`)
  return stories.join('\n')
}

function indent(text: string, by: string): string {
  return text.replaceAll(/^/gm, by)
}
