import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const READY_MS = 30_000

/** Starts a service on a temporary directory. Disposing it stops the service and removes the directory. */
export async function startService(env: Readonly<Record<string, string>>): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkline-demo-'))
  const program = fileURLToPath(new URL('../main.ts', import.meta.url))
  const own = { TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: dataDir, TRUNKLINE_LOG_FILE: join(dataDir, 'trunkline.log') }
  const child = spawn(process.execPath, [program], { env: { ...process.env, ...own, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', line => {
    if (line.startsWith('Trunkline is ready')) resolve()
  })
  child.once('exit', code => reject(new Error(`the service ended with code ${code}`)))
  const patience = setTimeout(() => reject(new Error(`the service was not ready within ${READY_MS} ms`)), READY_MS)
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await promise
  } catch (cause) {
    await stop()
    throw cause
  } finally {
    clearTimeout(patience)
  }
  return { dataDir, [Symbol.asyncDispose]: stop }
}
