// One program of the cluster as a process, which is started, watched and ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Program } from './program.ts'

export type ChildState = 'down' | 'up' | 'paused' | 'stopping'

/** How a process ended: its exit code, or the signal that ended it. */
export type ExitReason = number | NodeJS.Signals

export interface ChildEvents {
  started(child: Child, pid: number): void
  exited(child: Child, pid: number, reason: ExitReason): void
}

export class Child {
  readonly program: Program
  readonly #events: ChildEvents
  #process: ChildProcess | null = null
  #state: ChildState = 'down'

  constructor(program: Program, events: ChildEvents) {
    this.program = program
    this.#events = events
  }

  get state(): ChildState {
    return this.#state
  }

  /** Null while it is down. */
  get pid(): number | null {
    return this.#process?.pid ?? null
  }

  /** Starts the process. @throws Error if the system does not run the program. */
  async start(): Promise<void> {
    if (this.#process !== null) return
    const { command, args, env, runAs, logFile, title } = this.program
    // A file, and no pipe: the program may write after this process has ended.
    const log = openSync(logFile, 'a', 0o600)
    // In its own process group: a terminal's Ctrl-C reaches this process only, which ends the programs in order.
    const started = spawn(command, args, { ...runAs, env: { ...env }, stdio: ['pipe', log, log], detached: true, cwd: '/' })
    closeSync(log)
    started.stdin?.on('error', () => undefined)
    this.#process = started
    this.#state = 'up'
    started.once('exit', (code, signal) => this.#exited(started.pid ?? 0, code ?? signal ?? 0))
    try {
      await once(started, 'spawn')
    } catch (cause) {
      this.#process = null
      this.#state = 'down'
      throw new Error(`${title} could not be started: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
    this.#events.started(this, started.pid ?? 0)
  }

  /** Ends it gracefully, or by force when that takes too long. Resolves when it has ended; false if force was needed. */
  async stop(): Promise<boolean> {
    const stopped = this.#process
    if (stopped === null) return true
    const ended = once(stopped, 'exit')
    this.resume()
    this.#state = 'stopping'
    stopped.kill(this.program.endSignal)
    let isGraceful = true
    const patience = setTimeout(() => {
      isGraceful = false
      stopped.kill('SIGKILL')
    }, this.program.endMs)
    await ended
    clearTimeout(patience)
    return isGraceful
  }

  /** Ends it at once, paused or not. Resolves when it has ended. */
  async kill(): Promise<void> {
    const killed = this.#process
    if (killed === null) return
    const ended = once(killed, 'exit')
    killed.kill('SIGKILL')
    await ended
  }

  pause(): void {
    if (this.#state !== 'up') return
    this.#process?.kill('SIGSTOP')
    this.#state = 'paused'
  }

  resume(): void {
    if (this.#state !== 'paused') return
    this.#process?.kill('SIGCONT')
    this.#state = 'up'
  }

  #exited(pid: number, reason: ExitReason): void {
    this.#process = null
    this.#state = 'down'
    this.#events.exited(this, pid, reason)
  }
}
