// The service as a program that can be told where to die, started again and again over the same data.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Json } from './house.ts'
import type { Demo } from './platform.ts'

/** Where the program kills itself, or its store fails it. `record` is the durable write of an order's change. */
export type CrashPoint =
  | { readonly at: 'before_record' | 'after_record'; readonly what: RecordKind }
  /** So many milliseconds after the write was handed to the store; when it is written, if that is sooner. */
  | { readonly at: 'during_record'; readonly what: RecordKind; readonly ms: number }
  | { readonly at: 'before_command' | 'after_command'; readonly what: 'submit' | 'cancel' | 'replace' }
  /** The connection to the house is there, and the request's first byte is about to be written. */
  | { readonly at: 'before_first_byte' }
  /** Right before the answer of `POST /orders` is written. */
  | { readonly at: 'before_answer' }
  /** Nobody dies: once, the commit is not confirmed, whether or not it happened; and what is stored then cannot be read, if so wished. */
  | { readonly at: 'doubtful_record'; readonly what: RecordKind; readonly written: boolean; readonly readable: boolean }
  /** Nobody dies: so many writes are refused. */
  | { readonly at: 'refused_record'; readonly what: RecordKind; readonly times: number }

/** A new order; the broker's word on a command; what the broker tells unasked; a cancel's intent; a replacement's, with its successor. */
export type RecordKind = 'place' | 'word' | 'news' | 'cancel' | 'replace'

/** What of a stored order only the inside knows. */
export interface StoredOrder {
  readonly orderId: string
  readonly brokerClOrdId: string
  readonly brokerOrderId: string | null
  readonly revision: number
  readonly status: string
}

/** An entry of a user's event log. */
export interface LogEntry {
  readonly seq: number
  readonly eventId: string
  readonly topic: string
  /** Of an order's event. */
  readonly order: StoredOrder | null
}

/** What the harness asks of the program, over the channel between them. */
export type Question = { readonly id: number } & Request

type Request =
  | { readonly ask: 'arm'; readonly point: CrashPoint }
  | { readonly ask: 'order'; readonly orderId: string }
  | { readonly ask: 'log'; readonly orderId: string }

const START_MS = 60_000
const OUTPUT_MAX = 200_000

export class ServiceProcess {
  readonly demo: Demo
  readonly #child: ChildProcess
  readonly #output: () => string
  readonly #asked = new Map<number, (answer: Json) => void>()
  #questions = 0

  private constructor(child: ChildProcess, demo: Demo, output: () => string) {
    this.#child = child
    this.demo = demo
    this.#output = output
    child.on('message', (answer: Json) => this.#asked.get(answer.id)?.(answer))
    child.once('exit', () => {
      for (const answered of this.#asked.values()) answered({ failed: 'the service ended' })
    })
  }

  /** @param program the file to run. @param env all of its environment. */
  static async start(program: string, env: Readonly<Record<string, string | undefined>>): Promise<ServiceProcess> {
    const child = fork(program, [], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_MAX)
      })
    }
    const ready = once(child, 'message', { signal: AbortSignal.timeout(START_MS) })
    const died = once(child, 'exit').then(() => Promise.reject(new Error(`the service ended before it was ready:\n${output}`)))
    died.catch(() => undefined)
    const [message]: Json[] = await Promise.race([ready, died])
    assert.ok(message.ready, JSON.stringify(message))
    return new ServiceProcess(child, message.ready, () => output)
  }

  get output(): string {
    return this.#output()
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** From now on the program ends, or is failed, where it was told to. */
  async arm(point: CrashPoint): Promise<void> {
    await this.#ask({ ask: 'arm', point })
  }

  async order(orderId: string): Promise<StoredOrder | null> {
    return await this.#ask({ ask: 'order', orderId })
  }

  /** The whole event log of the order's user. */
  async log(orderId: string): Promise<readonly LogEntry[]> {
    return await this.#ask({ ask: 'log', orderId })
  }

  kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): void {
    this.#child.kill(signal)
  }

  /** Waits for its end. Gives the exit code, or the signal that ended it. */
  async ended(limitMs = START_MS): Promise<number | string> {
    if (this.isRunning) {
      await once(this.#child, 'exit', { signal: AbortSignal.timeout(limitMs) }).catch(cause => {
        throw new Error(`the service did not end within ${limitMs} ms:\n${this.output.slice(-4_000)}`, { cause })
      })
    }
    return this.#child.exitCode ?? this.#child.signalCode ?? 'unknown'
  }

  async stop(): Promise<number | string> {
    if (this.isRunning) this.kill('SIGTERM')
    return await this.ended()
  }

  async #ask(request: Request): Promise<Json> {
    this.#questions += 1
    const id = this.#questions
    const { promise, resolve } = Promise.withResolvers<Json>()
    this.#asked.set(id, resolve)
    this.#child.send({ id, ...request })
    const answer = await promise
    this.#asked.delete(id)
    assert.ok(!('failed' in answer), String(answer.failed))
    return answer.answer
  }
}
