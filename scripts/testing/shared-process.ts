// Runs the test files of its arguments in this process, one after the other, and sends the result of each to the runner.
import { resolve } from 'node:path'
import { run } from 'node:test'
import { type Ended, isTest, judge, type TestFailure, wholeFile } from './judge.ts'
import type { FileResult } from './run-file.ts'

/** Sent for each file that ended, then once for the whole. */
export type SharedMessage =
  | { readonly kind: 'file'; readonly result: FileResult }
  /** `late`: something happened after the end of a test, so it is unknown whose it was. */
  | { readonly kind: 'end'; readonly late: boolean }

const LATE = /generated asynchronous activity|unhandledRejection|uncaughtException/

class Running {
  readonly #path: string
  readonly #failures: TestFailure[] = []
  #passed = 0
  #durationMs = 0

  constructor(path: string) {
    this.#path = path
  }

  add(type: 'test:pass' | 'test:fail', data: Ended): void {
    if (data.nesting === 0) this.#durationMs += data.details.duration_ms ?? 0
    const failure = judge(type, data, 'It was interrupted.')
    if (failure !== null) this.#failures.push(failure)
    else if (type === 'test:pass' && isTest(data)) this.#passed += 1
  }

  result(): FileResult {
    const [path, passed, failures] = [this.#path, this.#passed, [...this.#failures]]
    if (passed === 0 && failures.length === 0) failures.push(wholeFile('There are no tests in it.'))
    return { path, passed, failures, durationMs: this.#durationMs, processorMs: null, output: '', results: [], isShared: true }
  }
}

async function main(paths: readonly string[]): Promise<void> {
  const byFile = new Map(paths.map(path => [resolve(path), path]))
  let running: { readonly file: string; readonly tests: Running } | null = null
  let late = false
  const ended = () => {
    if (running !== null) send({ kind: 'file', result: running.tests.result() })
    running = null
  }
  for await (const { type, data } of run({ files: [...byFile.keys()], isolation: 'none' })) {
    if (type === 'test:diagnostic') late ||= LATE.test(data.message)
    if (type === 'test:dequeue' && data.nesting === 0 && data.file !== undefined && running?.file !== data.file) {
      ended()
      const path = byFile.get(data.file)
      if (path === undefined) throw new Error(`A test of ${data.file} ran, which is none of the files.`)
      running = { file: data.file, tests: new Running(path) }
    }
    // In one process the report has no `entryFile`. A file without tests passes as a test with its own name, which counts as none.
    const isEmpty = type === 'test:pass' && data.name === data.file
    if ((type === 'test:pass' && !isEmpty) || type === 'test:fail') running?.tests.add(type, { ...data, entryFile: data.file ?? '' })
  }
  ended()
  send({ kind: 'end', late })
  // What a test left open keeps this process alive, and is found by that.
  process.disconnect?.()
}

function send(message: SharedMessage): void {
  process.send?.(message)
}

await main(process.argv.slice(2))
