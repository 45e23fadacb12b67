import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The measured program has one core to itself; everything else shares the rest. */
const MEASURED_CORE = 0
/** Counted before any process is pinned. */
const CORES = availableParallelism()

/**
 * Pins a process, and all that it starts from now on, to the measured core or away from it. Returns whether that was possible: it takes a
 * second core, and the `taskset` of Linux.
 */
export function pin(pid: number, where: 'measured' | 'others'): boolean {
  if (CORES < 2) return false
  const list = where === 'measured' ? String(MEASURED_CORE) : `1-${CORES - 1}`
  return spawnSync('taskset', ['-a', '-c', '-p', list, String(pid)], { stdio: 'ignore' }).status === 0
}
