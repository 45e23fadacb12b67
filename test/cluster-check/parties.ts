// The database, NATS and the brokers of the cluster: programs that are ended and started again while the nodes run.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { within } from '@trunkline/testkit/within'
import type { Guard } from '../../scripts/cluster/guard.ts'
import { type Postgres, postgres } from '../../scripts/cluster/postgres.ts'

/** How PostgreSQL stops: `fast` disconnects its clients, `immediate` is a crash. */
export const STOPS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
export type Stop = keyof typeof STOPS

/** PostgreSQL with its durable settings, on files that outlive its restarts. */
export class Database implements AsyncDisposable {
  readonly port: number
  readonly #postgres: Postgres
  readonly #guard: Guard
  #child: ChildProcess | null = null

  private constructor(made: Postgres, port: number, guard: Guard) {
    this.#postgres = made
    this.#guard = guard
    this.port = port
  }

  static async start(folder: string, logFile: string, guard: Guard): Promise<Database> {
    const port = await freePort()
    const database = new Database(postgres(folder, port, logFile), port, guard)
    await database.run()
    await database.#postgres.prepare()
    return database
  }

  /** Past all proxies. */
  get url(): string {
    return this.#postgres.url
  }

  /** Starts it, and waits until it takes connections. */
  async run(): Promise<void> {
    const { command, args, env, runAs, logFile, isReady } = this.#postgres.program
    const log = openSync(logFile, 'a')
    const child = spawn(command, [...args], { ...runAs, env, cwd: '/', stdio: ['ignore', log, log] })
    closeSync(log)
    this.#child = child
    this.#guard.began(child.pid ?? 0, this.#postgres.program)
    await until(async () => child.exitCode !== null || (await isReady(child.pid ?? 0)), 'PostgreSQL takes connections')
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}; its log: ${logFile}`)
  }

  async stop(how: Stop): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(STOPS[how])
    await within(PATIENCE_MS, ended, () => 'PostgreSQL had ended')
    this.#guard.ended(child.pid ?? 0)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop('immediate')
  }
}

/** Below the ports that systems give to outgoing connections: it is taken again after a restart. */
const PORTS = { first: 20_000, count: 12_000 }

export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + randomInt(PORTS.count)
    const server = createServer()
    const isFree = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
