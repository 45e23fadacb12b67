// What counts as passed: everything else that node:test reports is a failure.
import { inspect } from 'node:util'

export interface TestFailure {
  readonly name: string
  readonly line: number | null
  readonly details: string
}

/** One end of a test, as node:test reports it. */
export interface Ended {
  readonly name: string
  readonly nesting: number
  /** Absent for the pseudo-test of the whole file. */
  readonly entryFile?: string
  readonly line?: number | undefined
  readonly skip?: string | boolean | undefined
  readonly todo?: string | boolean | undefined
  readonly details: { readonly type?: string | undefined; readonly duration_ms?: number; readonly error?: Error | undefined }
}

/** The failure that one end of a test is; null if it is none. `whyStopped` is the reason for a file that was stopped. */
export function judge(type: 'test:pass' | 'test:fail', data: Ended, whyStopped: string): TestFailure | null {
  const { name, line = null, skip, todo, details } = data
  if (skip !== undefined) return { name, line, details: 'It was skipped, which counts as failed.' }
  if (todo !== undefined) return { name, line, details: 'It is marked "todo", which counts as failed.' }
  if (type === 'test:pass') return null
  const reason = failureType(details.error)
  if (reason === 'subtestsFailed') return null // each of them reports its own
  if (data.entryFile !== undefined) return { name, line, details: detailsOf(details.error) }
  if (reason === 'testAborted') return wholeFile(whyStopped)
  return wholeFile('The process failed: see its output.')
}

/** False for a suite, and for the pseudo-test of a whole file. */
export function isTest({ entryFile, details }: Ended): boolean {
  return entryFile !== undefined && details.type !== 'suite'
}

/** A failure of the file and not of one of its tests. */
export function wholeFile(details: string): TestFailure {
  return { name: '(the file)', line: null, details }
}

function failureType(error: Error | undefined): unknown {
  return error !== undefined && 'failureType' in error ? error.failureType : undefined
}

// node:test wraps the thrown error.
function detailsOf(error: Error | undefined): string {
  return textOf(error?.cause ?? error)
    .replaceAll(/^ +at .*\(?node:internal\/.*\n?/gm, '')
    .trimEnd()
}

// An assertion's stack contains its message and the difference; other errors may have causes and codes.
function textOf(cause: unknown): string {
  // A failure, and another one while what the test used was closed. `inspect` shows neither.
  if (cause instanceof SuppressedError) return `${textOf(cause.suppressed)}\n\nand then, at a disposal:\n${textOf(cause.error)}`
  const isAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION'
  if (isAssertion) return cause.stack ?? cause.message
  return typeof cause === 'string' ? cause : inspect(cause, { depth: 6, colors: false })
}
