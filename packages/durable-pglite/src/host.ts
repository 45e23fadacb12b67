/** The identity of a process, so that another one can check whether it is alive. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, including against a later one with the same number. Unknown parts are null. */
export interface ProcessIdentity {
  readonly pid: number
  readonly hostname: string
  /** Changes whenever the machine starts. */
  readonly bootId: string | null
  /** When the process started, in units that are only comparable for equality. */
  readonly startedAt: string | null
  /** The namespace of the number; two containers may both have a process 1. */
  readonly pidSpace: string | null
}

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, hostname: hostname(), bootId: bootId(), startedAt: startOf(process.pid), pidSpace: pidSpace() }
}

/** Whether the number still belongs to that process; also true if that is unknown. */
export function mayLive({ pid, startedAt }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
  }
  const current = startOf(pid)
  return current === null || startedAt === null || current === startedAt
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

function bootId(): string | null {
  return process.platform === 'linux'
    ? attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    : attempt(() =>
        execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
      )
}

function startOf(pid: number): string | null {
  if (process.platform !== 'linux')
    return attempt(() =>
      execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    )
  // Field 22 of stat; the second field is a name in parentheses that may hold anything.
  return attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? null)
}

function pidSpace(): string | null {
  return process.platform === 'linux' ? attempt(() => readlinkSync('/proc/self/ns/pid')) : null
}

function attempt(read: () => string | null): string | null {
  try {
    return read()
  } catch {
    return null // not every system reports it; callers treat null as unknown
  }
}
