// Keeps the programs of the cluster running: starts them in order, starts again what ends by itself, and ends all in reverse order.
import { setTimeout as delay } from 'node:timers/promises'
import { Child, type ExitReason } from './child.ts'
import type { Program } from './program.ts'

export interface SupervisorTiming {
  /** How long a program may take until it is ready, at the start of the cluster. */
  readonly readyMs: number
  readonly pollMs: number
  /** The pause before a program that ended by itself is started again; doubled while it ends soon after its start. */
  readonly restartMs: number
  readonly restartMsMax: number
  /** A program that ran for so long starts again after the shortest pause. */
  readonly steadyMs: number
}

export const SUPERVISOR_TIMING: SupervisorTiming = {
  readyMs: 120_000,
  pollMs: 100,
  restartMs: 1_000,
  restartMsMax: 30_000,
  steadyMs: 10_000
}

export interface SupervisorOutput {
  print(line: string): void
  /** Each process as it begins and ends, for those that must end it if this program cannot. */
  began(pid: number, program: Program): void
  ended(pid: number, program: Program): void
}

interface Entry {
  readonly child: Child
  /** What ended as it was asked to stays down. */
  isWanted: boolean
  isReady: boolean
  startedAt: number
  pauseMs: number
  restart: NodeJS.Timeout | null
}

export interface Status {
  readonly program: Program
  readonly state: 'down' | 'starting' | 'ready' | 'paused' | 'stopping'
  readonly pid: number | null
}

export class Supervisor {
  readonly #groups: readonly (readonly Entry[])[]
  readonly #output: SupervisorOutput
  readonly #timing: SupervisorTiming
  #isStopping = false

  /** @param groups the programs of a group start together, once those of the groups before are ready */
  constructor(groups: readonly (readonly Program[])[], output: SupervisorOutput, timing = SUPERVISOR_TIMING) {
    this.#output = output
    this.#timing = timing
    this.#groups = groups.map(programs => programs.map(program => this.#entryOf(program)))
  }

  get #entries(): readonly Entry[] {
    return this.#groups.flat()
  }

  /** Starts a group and waits until it is ready. @throws Error if a program ends before, or takes too long */
  async startGroup(index: number): Promise<void> {
    await Promise.all((this.#groups[index] ?? []).map(entry => this.#startFirst(entry)))
  }

  /** Ends the programs of a group together; each has its own time limit. */
  async stopGroup(index: number): Promise<void> {
    this.#isStopping = true
    await Promise.all((this.#groups[index] ?? []).map(entry => this.#stop(entry)))
  }

  status(): readonly Status[] {
    return this.#entries.map(({ child, isReady }) => {
      const { program, state, pid } = child
      return { program, pid, state: state === 'up' ? (isReady ? 'ready' : 'starting') : state }
    })
  }

  /** Each command resolves to what was done, as a line for the reader. @throws Error if the name is unknown */
  async kill(name: string): Promise<string> {
    const entry = this.#entry(name)
    const { child } = entry
    if (child.pid === null) return this.#keptDown(entry)
    entry.isWanted = false
    await child.kill()
    return `${child.program.title} was killed. \`start ${name}\` starts it again.`
  }

  async stop(name: string): Promise<string> {
    const entry = this.#entry(name)
    const { child } = entry
    if (child.pid === null) return this.#keptDown(entry)
    const began = performance.now()
    const isGraceful = await this.#stop(entry)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const how = isGraceful ? 'ended gracefully' : 'did not end and was killed'
    return `${child.program.title} ${how} after ${seconds} s. \`start ${name}\` starts it again.`
  }

  async pause(name: string): Promise<string> {
    const { child } = this.#entry(name)
    if (child.state !== 'up') return `${child.program.title} is ${child.state}.`
    child.pause()
    return `${child.program.title} is paused. \`start ${name}\` lets it continue.`
  }

  async start(name: string): Promise<string> {
    const entry = this.#entry(name)
    const { child } = entry
    if (child.state === 'paused') {
      child.resume()
      return `${child.program.title} continues.`
    }
    if (child.state !== 'down') return `${child.program.title} is already ${child.state}.`
    this.#cancelRestart(entry)
    entry.isWanted = true
    entry.pauseMs = this.#timing.restartMs
    await this.#begin(entry)
    return `${child.program.title} is starting (process ${child.pid}).`
  }

  async #startFirst(entry: Entry): Promise<void> {
    const { title, logFile } = entry.child.program
    await entry.child.start()
    const deadline = performance.now() + this.#timing.readyMs
    while (!(await this.#look(entry))) {
      if (this.#isStopping) return
      if (entry.child.pid === null) throw new Error(`${title} ended before it was ready; its log: ${logFile}`)
      if (performance.now() > deadline)
        throw new Error(`${title} was not ready after ${this.#timing.readyMs / 1_000} s; its log: ${logFile}`)
      await delay(this.#timing.pollMs)
    }
    // From here on it is started again when it ends.
    entry.isWanted = true
  }

  /** Reports when a restarted program is ready, without holding up anything. */
  async #begin(entry: Entry): Promise<void> {
    await entry.child.start()
    void this.#reportReady(entry)
  }

  async #reportReady(entry: Entry): Promise<void> {
    const { pid, program } = entry.child
    while (entry.child.pid === pid && !(await this.#look(entry))) await delay(this.#timing.pollMs)
    if (entry.child.pid !== pid) return
    this.#output.print(`${program.title} is ready after ${((performance.now() - entry.startedAt) / 1_000).toFixed(1)} s.`)
  }

  async #look(entry: Entry): Promise<boolean> {
    const { pid, program, state } = entry.child
    if (pid === null || state !== 'up') return false
    const isReady = await program.isReady(pid)
    if (entry.child.pid !== pid) return false
    entry.isReady = isReady
    return isReady
  }

  async #stop(entry: Entry): Promise<boolean> {
    entry.isWanted = false
    this.#cancelRestart(entry)
    return await entry.child.stop()
  }

  #keptDown(entry: Entry): string {
    entry.isWanted = false
    this.#cancelRestart(entry)
    return `${entry.child.program.title} is down. \`start ${entry.child.program.name}\` starts it.`
  }

  #exited(entry: Entry, pid: number, reason: ExitReason): void {
    this.#output.ended(pid, entry.child.program)
    entry.isReady = false
    if (!entry.isWanted || this.#isStopping) return
    const { title, name, restarts, logFile } = entry.child.program
    const what = `${title} ended by itself (${typeof reason === 'number' ? `exit code ${reason}` : reason}; log: ${logFile})`
    if (!restarts) {
      entry.isWanted = false
      this.#output.print(`${what}. \`start ${name}\` starts it again.`)
      return
    }
    const ranFor = performance.now() - entry.startedAt
    if (ranFor >= this.#timing.steadyMs) entry.pauseMs = this.#timing.restartMs
    this.#output.print(`${what}. It is started again in ${entry.pauseMs / 1_000} s.`)
    entry.restart = setTimeout(() => void this.#restart(entry), entry.pauseMs)
    entry.pauseMs = Math.min(2 * entry.pauseMs, this.#timing.restartMsMax)
  }

  async #restart(entry: Entry): Promise<void> {
    entry.restart = null
    try {
      await this.#begin(entry)
    } catch (cause) {
      this.#output.print(cause instanceof Error ? cause.message : String(cause))
    }
  }

  #cancelRestart(entry: Entry): void {
    if (entry.restart !== null) clearTimeout(entry.restart)
    entry.restart = null
  }

  #entry(name: string): Entry {
    const found = this.#entries.find(({ child }) => child.program.name === name)
    if (found !== undefined) return found
    const names = this.#entries.map(({ child }) => child.program.name).join(', ')
    throw new Error(`There is no ${JSON.stringify(name.slice(0, 40))}; there are ${names}.`)
  }

  #entryOf(program: Program): Entry {
    const child: Child = new Child(program, {
      started: (_, pid) => {
        entry.startedAt = performance.now()
        this.#output.began(pid, program)
      },
      exited: (_, pid, reason) => this.#exited(entry, pid, reason)
    })
    const entry: Entry = { child, isWanted: false, isReady: false, startedAt: 0, pauseMs: this.#timing.restartMs, restart: null }
    return entry
  }
}
