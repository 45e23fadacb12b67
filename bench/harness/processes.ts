import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Usage } from './usage.ts'

const READY_MS = 30_000
/** The output of Node about its inspector, which some measurements use. */
const INSPECTOR = /^(Debugger |For help, see: )/

/** A program under measurement. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** The line that announced that it was ready. */
  readonly ready: string
  /** Its usage since the last call. Only for a program that was started with the flags of {@link WITH_USAGE}. */
  usage(): Promise<Usage>
}

/** Makes a program report its usage. */
export const WITH_USAGE: readonly string[] = ['--import', fileURLToPath(new URL('./usage.ts', import.meta.url))]

/** Starts a TypeScript program and waits for a line of its output that begins with `readyMark`. `flags` are Node's. */
export async function startProgram(
  path: string,
  readyMark: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = []
): Promise<Program> {
  const program = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const child = spawn(process.execPath, [...flags, program], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe', 'ipc'] })
  if (child.stderr !== null)
    createInterface({ input: child.stderr }).on('line', text => INSPECTOR.test(text) || process.stderr.write(`${text}\n`))
  const ready = await readyLine(child, readyMark)
  const stop = async () => {
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    if (child.exitCode === null && child.kill('SIGTERM')) await ended
  }
  const usage = () => {
    const answer = new Promise<Usage>(resolve => child.once('message', (found: Usage) => resolve(found)))
    child.send('usage')
    return answer
  }
  return { pid: child.pid ?? 0, ready, usage, [Symbol.asyncDispose]: stop }
}

async function readyLine(child: ChildProcess, mark: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', text => text.startsWith(mark) && resolve(text))
  child.once('exit', code => reject(new Error(`a program ended with code ${code} before it was ready`)))
  const patience = setTimeout(() => reject(new Error('a program was not ready in time')), READY_MS)
  return promise.finally(() => clearTimeout(patience))
}

/** Current resident memory of a process, in megabytes. */
export function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_024
}

/** A directory that is removed with its holder. */
export function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'trunkline-bench-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
