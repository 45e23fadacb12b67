import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Log } from '@trunkline/core/ports/log'
import type { SET_BY_SERVICE } from '../config/sandbox-settings.ts'

/** A running sandbox brokerage, as described by its ready line. */
export interface SandboxReady {
  readonly url: string
  readonly controlUrl: string
  readonly logins: readonly { readonly username: string; readonly password: string }[]
}

export interface SandboxOptions {
  readonly dataDir: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: readonly string[]
  /** The operator's `SANDBOX_…` settings; the service's own take precedence. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const READY_MS = 60_000
const STOP_MS = 5_000
const ERROR_LINES_MAX = 20

/** The sandbox beside the service: a separate program that ends with the service, even if that is killed. */
export class SandboxProcess implements AsyncDisposable {
  readonly ready: SandboxReady
  readonly #child: ChildProcess
  #stopping = false

  private constructor(child: ChildProcess, ready: SandboxReady, log: Log) {
    this.#child = child
    this.ready = ready
    child.once('exit', (code, signal) => {
      if (!this.#stopping)
        log.error('the sandbox brokerage ended; connections to it are unreachable until the next start', { exitCode: code, signal })
    })
  }

  /** @throws Error with the program's last output if it does not become ready. */
  static async start(options: SandboxOptions, log: Log): Promise<SandboxProcess> {
    const program = fileURLToPath(import.meta.resolve('@trunkline/sandbox/main'))
    // In a separate process group, because a terminal's Ctrl-C reaches the whole group and we decide the order of stopping. It ends when
    // its standard input closes, so it never outlives us.
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'], env: environment(options), detached: true })
    return new SandboxProcess(child, await readyLine(child, log), log)
  }

  /** False once the program has ended. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true
    if (!this.isRunning) return
    const ended = new Promise<void>(resolve => this.#child.once('exit', () => resolve()))
    this.#child.stdin?.end()
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(patience)
  }
}

function environment({ dataDir, clientId, clientSecret, redirectUris, env }: SandboxOptions): NodeJS.ProcessEnv {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TRUNKLINE_')))
  return {
    SANDBOX_PORT: '0',
    ...own,
    ...({
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_CLIENT_ID: clientId,
      SANDBOX_CLIENT_SECRET: clientSecret,
      SANDBOX_REDIRECT_URIS: redirectUris.join(','),
      SANDBOX_END_WITH_STDIN: '1'
    } satisfies Readonly<Record<(typeof SET_BY_SERVICE)[number], string>>)
  }
}

async function readyLine(child: ChildProcess, log: Log): Promise<SandboxReady> {
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('the sandbox was started without its output')
  const errorLines: string[] = []
  createInterface({ input: stderr }).on('line', line => {
    errorLines.push(line)
    if (errorLines.length > ERROR_LINES_MAX) errorLines.shift()
    log.debug('sandbox', { line })
  })
  const { promise, resolve, reject } = Promise.withResolvers<SandboxReady>()
  createInterface({ input: stdout }).on('line', line => {
    const ready = parseReady(line)
    if (ready !== null) resolve(ready)
  })
  const failed = (why: string) => reject(new Error(`the sandbox brokerage did not start: ${why}\n${errorLines.join('\n')}`))
  child.once('error', cause => failed(cause.message))
  child.once('exit', code => failed(`it ended with code ${code}`))
  const patience = setTimeout(() => failed(`it was not ready within ${READY_MS} ms`), READY_MS)
  try {
    return await promise
  } catch (cause) {
    child.kill('SIGKILL')
    throw cause
  } finally {
    clearTimeout(patience)
  }
}

function parseReady(line: string): SandboxReady | null {
  if (!line.startsWith('{"event":"ready"')) return null
  const { url, control_url: controlUrl, logins } = JSON.parse(line)
  return { url, controlUrl, logins }
}
