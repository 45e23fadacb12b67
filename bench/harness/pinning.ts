import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** What is measured has a core of its own; everything else shares the rest. */
const MEASURED_CORE = 0
/** Counted before anything is pinned. */
const CORES = availableParallelism()

/**
 * Keeps a process, and whatever it starts from now on, on the measured core or off it. Gives whether that was possible: it takes a second
 * core, and the `taskset` of Linux.
 */
export function pin(pid: number, where: 'measured' | 'others'): boolean {
  if (CORES < 2) return false
  const list = where === 'measured' ? String(MEASURED_CORE) : `1-${CORES - 1}`
  return spawnSync('taskset', ['-a', '-c', '-p', list, String(pid)], { stdio: 'ignore' }).status === 0
}
