// Runs one test file in a separate process and returns its result.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { SHORT_LIVED } from '@trunkline/testkit/short-lived'
import { isTest, judge, type TestFailure, wholeFile } from './judge.ts'
import { USAGE_FILE, USAGE_PARENT } from './report-usage.ts'

const OUTPUT_CHARS_MAX = 6_000
const REPORT_USAGE = new URL('report-usage.ts', import.meta.url).href

export interface FileResult {
  readonly path: string
  readonly passed: number
  readonly failures: readonly TestFailure[]
  readonly durationMs: number
  /** Of the file and of what it started and waited for; `null` if it was stopped and could not report it, or shared its process. */
  readonly processorMs: number | null
  /** The end of the file's output. */
  readonly output: string
  /** Lines of it that begin with `= `: results that are shown whether the file passes or not. */
  readonly results: readonly string[]
  /** It ran in one process with other files. */
  readonly isShared?: boolean
}

export interface RunOptions {
  readonly root: string
  /** A file that still runs after this many milliseconds is stopped, and fails. */
  readonly limitMs: number
  readonly signal: AbortSignal
  /** The URL of a module for the file's process and those that it starts; see bundles.ts. */
  readonly preload?: string | null
}

/** Everything but a pass is a failure: skipped and "todo" tests, a file without tests, a file that ends before its tests do. */
export async function runFile(path: string, options: RunOptions): Promise<FileResult> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-run-'))
  try {
    return await runWatched(path, options, join(folder, 'usage'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runWatched(path: string, { root, limitMs, signal, preload = null }: RunOptions, usageFile: string): Promise<FileResult> {
  const began = performance.now()
  const stream = run({
    files: [resolve(root, path)],
    isolation: 'process',
    timeout: limitMs * 0.9,
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
    cwd: root,
    execArgv: [...SHORT_LIVED, '--import', REPORT_USAGE],
    env: { ...process.env, ...withPreload(preload), [USAGE_FILE]: usageFile, [USAGE_PARENT]: String(process.pid) }
  })
  const failures: TestFailure[] = []
  const results: string[] = []
  let [passed, output, isComplete] = [0, '', false]

  for await (const { type, data } of stream) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      output = (output + data.message).slice(-OUTPUT_CHARS_MAX)
      results.push(...data.message.split('\n').filter((line: string) => line.startsWith('= ')))
    } else if (type === 'test:summary') isComplete ||= data.file !== undefined
    else if (type === 'test:pass' || type === 'test:fail') {
      const failure = judge(type, data, signal.aborted ? 'It was interrupted.' : tooLong(limitMs))
      if (failure !== null) failures.push(failure)
      else if (type === 'test:pass' && isTest(data)) passed++
    }
  }
  if (failures.length === 0 && !isComplete) failures.push(wholeFile('The process ended before its tests did, or there are none.'))
  else if (failures.length === 0 && passed === 0) failures.push(wholeFile('There are no tests in it.'))
  return { path, passed, failures, durationMs: performance.now() - began, processorMs: usageIn(usageFile), output, results }
}

function withPreload(preload: string | null): { readonly NODE_OPTIONS?: string } {
  return preload === null ? {} : { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`.trim() }
}

function usageIn(file: string): number | null {
  try {
    const ms = Number(readFileSync(file, 'utf8'))
    return Number.isFinite(ms) ? ms : null
  } catch {
    return null
  }
}

function tooLong(limitMs: number): string {
  return `It was stopped after ${limitMs / 1000} s. A socket, a timer or a process may have been left open.`
}
