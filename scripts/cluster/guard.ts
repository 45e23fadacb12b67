// Ends the programs of the cluster if this process is killed and cannot do it: a second process, which notices that its input closes.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Program } from './program.ts'

const GUARD = fileURLToPath(new URL('./guard-program.ts', import.meta.url))

export interface Guard {
  began(pid: number, program: Pick<Program, 'endSignal'>): void
  ended(pid: number): void
  /** Lets the guard end. */
  stop(): void
}

export function startGuard(): Guard {
  const guard = spawn(process.execPath, [GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return {
    began: (pid, { endSignal }) => void guard.stdin.write(`began ${pid} ${endSignal}\n`),
    ended: pid => void guard.stdin.write(`ended ${pid}\n`),
    stop: () => void guard.stdin.end()
  }
}
