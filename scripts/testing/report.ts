// The report of one test file: a line, and the details of each failure.
import type { TestFailure } from './judge.ts'
import type { FileResult } from './run-file.ts'

export type Print = (text: string) => void

/** `path:line › test`, the name of a failure in every list. */
export function nameOf(path: string, { name, line }: TestFailure): string {
  return `${path}${line === null ? '' : `:${line}`} › ${name}`
}

export function report(result: FileResult, print: Print): void {
  const { path, passed, failures, durationMs, processorMs, results, isShared = false } = result
  const processor = processorMs === null ? 'processor unknown' : `processor ${inSeconds(processorMs)}`
  const seconds = `${inSeconds(durationMs)}, ${isShared ? 'shared process' : processor}`
  if (failures.length === 0) print(`  ok    ${path} (${passed}, ${seconds})`)
  else print(`  FAIL  ${path} (${passed} passed, ${failures.length} failed, ${seconds})\n${detailsOf(result)}`)
  for (const line of results) print(`        ${line.slice(2)}`)
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** The failures of a file and the end of what it printed, indented. */
export function detailsOf({ path, failures, output }: FileResult): string {
  const parts = failures.map(failure => `\n    ${nameOf(path, failure)}\n${indent(failure.details, '      ')}\n`)
  if (output.trim() !== '') parts.push(`    the end of the file's output:\n${indent(output.trimEnd(), '      | ')}\n`)
  return parts.join('\n')
}

function indent(text: string, by: string): string {
  return text.replaceAll(/^/gm, by)
}
