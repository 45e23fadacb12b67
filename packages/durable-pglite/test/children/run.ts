/** Starts child processes for the tests and collects their output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { SHORT_LIVED } from '@trunkline/testkit/short-lived'

export interface Child {
  readonly process: ChildProcess
  /** Lines of standard output so far. */
  readonly lines: readonly string[]
  readonly stderr: () => string
  /** Resolves with the first line that satisfies `wanted`, past or future; rejects if the child ends without one. */
  line(wanted: (line: string) => boolean): Promise<string>
  /** Resolves when it has ended and its output was read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/** Runs a script of this folder with one JSON argument. */
export function startChild(script: string, input: unknown): Child {
  const process_ = spawn(process.execPath, [...SHORT_LIVED, new URL(script, import.meta.url).pathname, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const lines: string[] = []
  const watchers = new Set<() => void>()
  let stderr = ''
  process_.stderr.on('data', chunk => {
    stderr += String(chunk)
  })
  createInterface({ input: process_.stdout }).on('line', line => {
    lines.push(line)
    for (const watch of watchers) watch()
  })
  const ended = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve, reject) => {
    process_.on('error', reject)
    process_.on('close', (code, signal) => resolve({ code, signal }))
  })
  return {
    process: process_,
    lines,
    stderr: () => stderr,
    ended,
    line: wanted =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = lines.find(wanted)
          if (found === undefined) return
          watchers.delete(watch)
          resolve(found)
        }
        watchers.add(watch)
        watch()
        void ended.then(({ code, signal }) =>
          reject(new Error(`the child ended (${code ?? signal}) first: ${lines.join(' / ')} ${stderr}`))
        )
      })
  }
}
