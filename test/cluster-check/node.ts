// A node as a program that is killed, paused, stopped and given other clocks, and that a supervisor starts again.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChildProgram } from '@trunkline/testkit/crash/child-program'
import { METRICS_TOKEN } from '@trunkline/testkit/metrics'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { within } from '@trunkline/testkit/within'
import type { Guard } from '../../scripts/cluster/guard.ts'
import { Explanations, type LeaseDisturbance } from './ends.ts'
import type { Machine } from './machine.ts'

const MAIN = resolve(import.meta.dirname, '../../packages/server/src/main.ts')
const SET_CLOCK = fileURLToPath(import.meta.resolve('@trunkline/testkit/crash/set-clock'))
const REROUTE = fileURLToPath(new URL('./reroute.ts', import.meta.url))
const READY = 'Trunkline is ready at '
const OUTPUT_SHOWN = 3_000
/** Disturbances of several rounds. */
const REMEMBERED = 100
/** The pause before a node that ended is started again. */
const RESTART_MS = 300

class NodeProgram extends ChildProgram {
  readonly ready: Promise<void>
  #isReady = false

  constructor(env: Readonly<Record<string, string | undefined>>, aheadMs: number) {
    super(MAIN, env, ['--import', SET_CLOCK, '--import', REROUTE])
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    ready.promise.catch(() => undefined)
    this.child.stdout?.on('data', () => {
      if (this.#isReady || !this.output.includes(READY)) return
      this.#isReady = true
      ready.resolve()
    })
    this.child.once('exit', () => ready.reject(new Error('the node ended before it was ready')))
    this.setClock(aheadMs)
  }

  get isReady(): boolean {
    return this.#isReady && this.isRunning
  }

  /** Also before its first line runs: the message waits for it. */
  setClock(aheadMs: number): void {
    if (this.isRunning) this.child.send({ id: 0, ask: 'clock', aheadMs }, () => undefined)
  }

  get exit(): Promise<number | string> {
    return new Promise(resolve => {
      const report = () => resolve(this.child.exitCode ?? this.child.signalCode ?? 'unknown')
      if (this.isRunning) this.child.once('exit', report)
      else report()
    })
  }
}

interface Disturbance {
  readonly by: string
  readonly from: number
  to: number
}

export interface CheckedNodeOptions {
  readonly number: number
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  /** Ends its processes if this one is killed. */
  readonly guard: Guard
  readonly machine: Pick<Machine, 'lateMs'>
  /** Called with an end that nothing explains. */
  readonly onFault: (what: string) => void
}

/** One of the nodes, over all its processes. */
export class CheckedNode {
  readonly number: number
  readonly url: string
  readonly #options: CheckedNodeOptions
  readonly #ends = new Map<string, number>()
  readonly #explanations = new Explanations()
  #program: NodeProgram | null = null
  #earlierOutput = ''
  #isWanted = false
  #isPaused = false
  #aheadMs = 0
  #starting: Promise<void> = Promise.resolve()
  #disturbances: Disturbance[] = []

  constructor(options: CheckedNodeOptions) {
    this.number = options.number
    this.url = options.url
    this.#options = options
  }

  /** Starts it, and again whenever it ends. */
  start(): void {
    this.#isWanted = true
    this.#run()
  }

  get isReady(): boolean {
    return this.#program?.isReady === true && !this.#isPaused
  }

  /** Whether a process of it runs, paused or not. */
  get isRunning(): boolean {
    return this.#program?.isRunning === true
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Of its present process and of the one before. */
  get output(): string {
    return `${this.#earlierOutput}\n--- the next process ---\n${this.#program?.output ?? ''}`
  }

  /** How its processes ended, by code or signal. */
  get ends(): ReadonlyMap<string, number> {
    return this.#ends
  }

  /** What kept it from its work, by the monotonic clock: what is remembered of it. */
  get disturbances(): readonly { readonly from: number; readonly to: number }[] {
    return this.#disturbances
  }

  /** Something keeps it from its work for a moment, or until {@link free}. */
  disturbed(by: 'moment' | 'pause' | 'brokers link' = 'moment'): void {
    const from = performance.now()
    this.#disturbances = [...this.#disturbances.slice(-REMEMBERED), { by, from, to: by === 'moment' ? from : Number.POSITIVE_INFINITY }]
  }

  free(by: 'pause' | 'brokers link'): void {
    const going = this.#disturbances.find(each => each.by === by && each.to === Number.POSITIVE_INFINITY)
    if (going !== undefined) going.to = performance.now()
  }

  /** Something keeps it from renewing its lease from now on. */
  disturbLease(by: LeaseDisturbance): void {
    this.#explanations.disturbLease(by)
  }

  freeLease(by: LeaseDisturbance): void {
    this.#explanations.freeLease(by, performance.now())
  }

  kill(): void {
    this.disturbed()
    this.#isPaused = false
    this.#explanations.expect('SIGKILL')
    this.#program?.kill('SIGKILL')
  }

  /** Ends it as an operator does: its users move, and its requests are answered. */
  terminate(): void {
    this.disturbed()
    this.#explanations.expect(0, 'SIGTERM')
    this.#program?.kill('SIGTERM')
  }

  pause(): void {
    if (this.#program?.isRunning !== true) return
    this.disturbed('pause')
    this.disturbLease('pause')
    this.#isPaused = true
    this.#program.kill('SIGSTOP')
  }

  resume(): void {
    this.free('pause')
    this.freeLease('pause')
    this.#isPaused = false
    if (this.#program?.isRunning === true) this.#program.kill('SIGCONT')
  }

  /** Sets its wall clock ahead of ours by this time, or back, now and for its next processes. */
  setClock(aheadMs: number): void {
    this.#aheadMs = aheadMs
    this.#program?.setClock(aheadMs)
  }

  /** Ends it for good. */
  async dispose(): Promise<void> {
    this.#isWanted = false
    this.#isPaused = false
    const program = this.#program
    if (program?.isRunning === true) {
      program.kill('SIGCONT')
      program.kill('SIGKILL')
    }
    await within(PATIENCE_MS, Promise.all([program?.exit, this.#starting]), () => `node ${this.number} had ended`)
  }

  #run(): void {
    this.disturbed()
    this.#explanations.began()
    const program = new NodeProgram({ ...this.#options.env, TRUNKLINE_METRICS_TOKEN: METRICS_TOKEN }, this.#aheadMs)
    this.#program = program
    this.#options.guard.began(program.pid, { endSignal: 'SIGTERM' })
    this.#starting = program.exit.then(code => this.#ended(program, code))
  }

  async #ended(program: NodeProgram, code: number | string): Promise<void> {
    this.disturbed()
    this.#options.guard.ended(program.pid)
    this.#ends.set(String(code), (this.#ends.get(String(code)) ?? 0) + 1)
    this.#earlierOutput = program.output
    const wasReady = program.output.includes(READY)
    const end = { code, wasReady, at: performance.now(), lateMs: (since: number) => this.#options.machine.lateMs(since) }
    if (this.#isWanted && !this.#explanations.explains(end))
      this.#options.onFault(`node ${this.number} ended with ${code}:\n${program.output.slice(-OUTPUT_SHOWN)}`)
    await new Promise(resolve => setTimeout(resolve, RESTART_MS))
    if (this.#isWanted) this.#run()
  }
}
