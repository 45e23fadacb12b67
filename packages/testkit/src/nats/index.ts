// A real nats-server for tests, on a port of its own, that can be killed, paused and started again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PATIENCE_MS } from '../patience.ts'
import { until } from '../until.ts'
import { within } from '../within.ts'
import { findNatsServer, NATS_MISSING } from './program.ts'

export { findNatsServer, NATS_MISSING, NATS_VARIABLE } from './program.ts'

const OUTPUT_MAX = 20_000
const LISTENING = /Listening for client connections on 127\.0\.0\.1:(\d+)/

export class NatsServer implements AsyncDisposable {
  readonly #args: readonly string[]
  /** At first the system chooses one; the server has it again after a restart. */
  #port = -1
  #child: ChildProcess | null = null
  #output = ''

  private constructor(args: readonly string[]) {
    this.#args = args
  }

  /** @param args further arguments of the program @throws Error if there is no nats-server */
  static async start(args: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(args)
    await server.#run()
    return server
  }

  get port(): number {
    return this.#port
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`
  }

  /** What it printed, for failures. */
  get output(): string {
    return this.#output
  }

  /** Ends it without a chance to say goodbye. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await within(PATIENCE_MS, exited, () => 'nats-server had ended')
  }

  /** Stops it as a frozen machine stops: connections stay open, and nothing answers. */
  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  /** After {@link kill}: on the same port, which another program may have for a moment. */
  async restart(): Promise<void> {
    await until(
      () =>
        this.#run().then(
          () => true,
          () => false
        ),
      'nats-server started again'
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }

  async #run(): Promise<void> {
    const program = findNatsServer()
    if (program === null) throw new Error(NATS_MISSING)
    const args = ['--addr', '127.0.0.1', '--port', String(this.#port), ...this.#args]
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    this.#output = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-OUTPUT_MAX)
    })
    const port = () => Number(LISTENING.exec(this.#output)?.[1] ?? 0)
    await until(() => port() > 0 || child.exitCode !== null, 'nats-server listened')
    if (child.exitCode !== null) throw new Error(`nats-server did not start:\n${this.#output}`)
    this.#port = port()
    await until(() => isListening(this.#port), 'nats-server accepted connections')
  }
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise<boolean>(resolve => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}
