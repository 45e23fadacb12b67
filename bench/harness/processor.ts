import { readdirSync, readFileSync } from 'node:fs'

/** Of the kernel's clock in /proc: a hundred a second on every Linux there is. */
const MS_PER_TICK = 10

interface Running {
  readonly pid: number
  readonly name: string
  readonly parent: number
  readonly processorMs: number
}

/**
 * Processor time that this process's descendants have taken so far, in milliseconds, by what they are: named processes, and `database` for
 * PostgreSQL's. Unlike rates it hardly changes with what else the machine does.
 */
export function processorTimes(named: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const running = processes()
  const names = new Map(Object.entries(named).map(([name, pid]) => [pid, name]))
  const times = new Map<string, number>()
  for (const one of running.values()) {
    const name = names.get(one.pid) ?? (one.name === 'postgres' && isOurs(one, running) ? 'database' : null)
    if (name !== null) times.set(name, (times.get(name) ?? 0) + one.processorMs)
  }
  return times
}

/** What each took from one reading to another, divided by `count`, in microseconds. */
export function perPiece(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>, count: number): string {
  return [...after].map(([name, ms]) => `${name} ${Math.round((1_000 * (ms - (before.get(name) ?? 0))) / count)}`).join(', ')
}

function isOurs({ parent }: Running, running: ReadonlyMap<number, Running>): boolean {
  for (let pid = parent; pid > 1; pid = running.get(pid)?.parent ?? 0) if (pid === process.pid) return true
  return false
}

function processes(): ReadonlyMap<number, Running> {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return new Map(pids.flatMap(name => readProcess(Number(name)) ?? []).map(one => [one.pid, one]))
}

/** Null when it has ended meanwhile. */
function readProcess(pid: number): Running | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? []
    const fields = rest.split(' ')
    // The fields after the name: state, parent, …; from the 12th the time in the process, in the kernel for it, and both of its children
    // that have ended, so that a database session that was closed is not forgotten.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { pid, name, parent: Number(fields[1]), processorMs: ticks * MS_PER_TICK }
  } catch {
    return null
  }
}
