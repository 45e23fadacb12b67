// Processor time of programs and of the children that they waited for. It excludes waiting on a busy machine.
import { readFileSync } from 'node:fs'

// The unit of the kernel's interface on every Linux.
const TICKS_PER_S = 100
const CHILDREN_USER = 13
const CHILDREN_SYSTEM = 14

/** Milliseconds of processor time of this process. */
export function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Milliseconds of all children that have ended and were waited for, with their children; `null` if the system does not report it. */
export function childrenProcessorMs(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // The name, in brackets, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])
    return Number.isFinite(ticks) ? (ticks / TICKS_PER_S) * 1_000 : null
  } catch {
    return null
  }
}
