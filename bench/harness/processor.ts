import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of the kernel's clock in /proc: a hundred per second on every Linux. */
const MS_PER_TICK = 10

interface Running {
  readonly pid: number
  readonly name: string
  readonly parent: number
  readonly processorMs: number
}

/** Of processes by name. */
export type ProcessorTimes = ReadonlyMap<string, number>

/**
 * Processor time of this process's descendants so far, in milliseconds, by name: named processes, and `database` for PostgreSQL's.
 * Unlike rates, it hardly depends on other load of the machine.
 */
export function processorTimes(named: Readonly<Record<string, number>>): ProcessorTimes {
  const running = processes()
  const names = new Map(Object.entries(named).map(([name, pid]) => [pid, name]))
  const times = new Map<string, number>()
  for (const one of running.values()) {
    const name = names.get(one.pid) ?? (one.name === 'postgres' && isOurs(one, running) ? 'database' : null)
    if (name !== null) times.set(name, (times.get(name) ?? 0) + one.processorMs)
  }
  return times
}

/** The usage of each process between two readings, divided by `count`, in microseconds. */
export function timesOf(before: ProcessorTimes, after: ProcessorTimes, count: number): ProcessorTimes {
  return new Map([...after].map(([name, ms]) => [name, (1_000 * (ms - (before.get(name) ?? 0))) / count]))
}

export function perPiece(times: ProcessorTimes): string {
  return [...times].map(([name, micros]) => `${name} ${Math.round(micros)}`).join(', ')
}

function isOurs({ parent }: Running, running: ReadonlyMap<number, Running>): boolean {
  for (let pid = parent; pid > 1; pid = running.get(pid)?.parent ?? 0) if (pid === process.pid) return true
  return false
}

function processes(): ReadonlyMap<number, Running> {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return new Map(pids.flatMap(name => readProcess(Number(name)) ?? []).map(one => [one.pid, one]))
}

/** Null if it has ended meanwhile. */
function readProcess(pid: number): Running | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? []
    const fields = rest.split(' ')
    // The fields after the name: state, parent, …; from the 12th its time in user mode, in the kernel, and both for its ended children,
    // so that a closed database session still counts.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { pid, name, parent: Number(fields[1]), processorMs: ticks * MS_PER_TICK }
  } catch {
    return null
  }
}
