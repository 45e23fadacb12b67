import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { PATIENCE_MS } from '../patience.ts'
import { INHERITED } from '../short-lived.ts'
import { within } from '../within.ts'
import type { Json } from './sandbox-process.ts'

/** Characters of a program's output that are kept, and of these what a failure shows. */
const OUTPUT_MAX = 200_000
const OUTPUT_SHOWN = 4_000

/** A program under test in a separate process: its output is recorded, it is queried over its channel, and it can be killed. */
export class ChildProgram {
  protected readonly child: ChildProcess
  readonly #pending = new Map<number, (answer: Json) => void>()
  #output = ''
  #questions = 0

  protected constructor(path: string, env: Readonly<Record<string, string | undefined>>, execArgv: readonly string[]) {
    this.child = fork(path, [], {
      env: { ...INHERITED, ...env },
      execArgv: [...execArgv],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_MAX)
      })
    }
    this.child.on('message', (answer: Json) => this.#pending.get(answer.id)?.(answer))
    this.child.once('exit', () => {
      for (const answered of this.#pending.values()) answered({ failed: 'the program ended' })
    })
  }

  /** The end of its output. */
  get output(): string {
    return this.#output
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  get pid(): number {
    const { pid } = this.child
    if (pid === undefined) throw new Error('the program did not start')
    return pid
  }

  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' = 'SIGKILL'): void {
    this.child.kill(signal)
  }

  /** Waits for its end. Returns the exit code, or the signal that ended it. */
  async ended(limitMs = PATIENCE_MS): Promise<number | string> {
    if (this.isRunning) {
      await within(limitMs, once(this.child, 'exit'), () => `the program had ended:\n${this.#end()}`)
    }
    return this.child.exitCode ?? this.child.signalCode ?? 'unknown'
  }

  async stop(): Promise<number | string> {
    if (this.isRunning) this.kill('SIGTERM')
    return await this.ended()
  }

  /** Rejects if the program ends unexpectedly. */
  protected died(): Promise<never> {
    const died = once(this.child, 'exit').then(() => Promise.reject(new Error(`the program ended before it was ready:\n${this.output}`)))
    died.catch(() => undefined)
    return died
  }

  #end(): string {
    return this.#output.slice(-OUTPUT_SHOWN)
  }

  protected async ask(request: object): Promise<Json> {
    this.#questions += 1
    const id = this.#questions
    const { promise, resolve } = Promise.withResolvers<Json>()
    this.#pending.set(id, resolve)
    this.child.send({ id, ...request })
    const answer = await within(PATIENCE_MS, promise, () => `the program had answered ${JSON.stringify(request)}:\n${this.#end()}`).finally(
      () => this.#pending.delete(id)
    )
    assert.ok(!('failed' in answer), String(answer.failed))
    return answer.answer
  }
}
