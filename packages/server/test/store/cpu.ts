// Processor time of this process and of a PostgreSQL server on this machine, for figures that other programs at work do not spoil.
import { readFileSync } from 'node:fs'
import pg from 'pg'

/** Microseconds so far. `database` is 0 where the database runs in this process. */
export interface Cpu {
  readonly node: number
  readonly database: number
}

/** Linux counts in these. */
const TICK_MICROSECONDS = 10_000

export class CpuMeter implements AsyncDisposable {
  readonly #client: pg.Client | null

  private constructor(client: pg.Client | null) {
    this.#client = client
  }

  /** @param url of the server to watch; null where there is none */
  static async open(url: string | null): Promise<CpuMeter> {
    const client = url === null ? null : new pg.Client(url)
    await client?.connect()
    return new CpuMeter(client)
  }

  async read(): Promise<Cpu> {
    const { user, system } = process.cpuUsage()
    const pids = this.#client === null ? [] : (await this.#client.query('select pid from pg_stat_activity')).rows.map(({ pid }) => pid)
    return { node: user + system, database: pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * TICK_MICROSECONDS }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.end()
  }
}

function ticksOf(pid: number): number {
  try {
    // Behind the name, which may hold anything: utime and stime are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return 0 // a session that ended meanwhile
  }
}
