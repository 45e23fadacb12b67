// Runs test files together in one process. A file without a clear result there runs by itself.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type FileResult, type RunOptions, runFile } from './run-file.ts'
import type { SharedMessage } from './shared-process.ts'

const PROGRAM = new URL('shared-process.ts', import.meta.url).pathname
/** A process of many files may take longer than one of them; a slow machine must not reach the limit. */
const LIMITS = 2
const OUTPUT_CHARS_MAX = 6_000

/**
 * The results of `paths`. If the process crashes, hangs, leaves something open, or reports an event after the end of a test, nothing
 * names the culprit: then each file that had not ended well, or all of them, run by themselves.
 */
export async function runShared(paths: readonly string[], options: RunOptions): Promise<readonly FileResult[]> {
  const [only] = paths
  if (only !== undefined && paths.length === 1) return [await runFile(only, options)]
  const shared = await together(paths, options)
  const results: FileResult[] = []
  for (const path of paths) {
    if (options.signal.aborted) break
    results.push(shared.get(path) ?? (await runFile(path, options)))
  }
  return results
}

async function together(paths: readonly string[], { root, limitMs, signal }: RunOptions): Promise<ReadonlyMap<string, FileResult>> {
  const results = new Map<string, FileResult>()
  const child = fork(PROGRAM, [...paths], {
    cwd: root,
    env: withoutTestContext(),
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs * LIMITS)]),
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  let output = ''
  let isClear = false
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_CHARS_MAX)
    })
  child.on('message', (message: SharedMessage) => {
    if (message.kind === 'file') results.set(message.result.path, message.result)
    if (message.kind === 'end') isClear = !message.late
  })
  const code = await exitCodeOf(child)
  // A failed test may set the exit code; otherwise a code other than 0 is a crash.
  const hasFailures = [...results.values()].some(({ failures }) => failures.length > 0)
  if (!isClear || (code !== 0 && !(hasFailures && code === 1))) return new Map()
  return new Map([...results].map(([path, result]) => [path, result.failures.length === 0 ? result : { ...result, output }]))
}

async function exitCodeOf(child: ReturnType<typeof fork>): Promise<number | null> {
  const closed = once(child, 'close')
  child.on('error', () => {}) // the signal ends it; `close` follows
  await closed.catch(() => {})
  return child.exitCode
}

/** Under node:test itself the variable would make the process report to it. */
function withoutTestContext(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}
