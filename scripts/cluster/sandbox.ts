// The sandbox brokerage of the cluster: one for all nodes, as a broker is.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { secretIn } from './files.ts'
import type { Program } from './program.ts'

export interface SandboxOptions {
  readonly dataDir: string
  readonly port: number
  readonly controlPort: number
  readonly redirectUris: readonly string[]
  readonly logFile: string
  /** The settings of the sandbox that the user has set, and what every program inherits. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What the sandbox reports about itself once it is ready. */
export interface SandboxReady {
  readonly controlUrl: string
  readonly logins: readonly { readonly username: string; readonly password: string }[]
}

export interface Sandbox {
  readonly program: Program
  readonly url: string
  readonly clientSecret: string
  /** @throws Error if it was never ready */
  ready(): SandboxReady
}

export function sandbox({ dataDir, port, controlPort, redirectUris, logFile, env }: SandboxOptions): Sandbox {
  const clientSecret = secretIn(join(dataDir, 'sandbox-client-secret'), () => randomBytes(32).toString('base64url'))
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    clientSecret,
    ready: () => {
      const ready = readyIn(logFile, null)
      if (ready === null) throw new Error(`the sandbox did not report that it is ready; its log: ${logFile}`)
      return ready
    },
    program: {
      ...{ name: 'sandbox', title: 'the sandbox', address: url, logFile, runAs: null },
      command: process.execPath,
      args: [fileURLToPath(import.meta.resolve('@trunkline/sandbox/main'))],
      env: {
        ...env,
        SANDBOX_HOST: '127.0.0.1',
        SANDBOX_PORT: String(port),
        SANDBOX_CONTROL_PORT: String(controlPort),
        SANDBOX_DATA_DIR: join(dataDir, 'sandbox'),
        SANDBOX_CLIENT_SECRET: clientSecret,
        SANDBOX_REDIRECT_URIS: redirectUris.join(','),
        SANDBOX_END_WITH_STDIN: '1'
      },
      ...{ endSignal: 'SIGTERM', endMs: 10_000, restarts: false },
      isReady: pid => Promise.resolve(readyIn(logFile, pid) !== null)
    }
  }
}

/** The newest report in the log, of one process or of any. */
function readyIn(logFile: string, pid: number | null): SandboxReady | null {
  const lines = readFileSync(logFile, 'utf8').split('\n')
  const reports = lines.filter(line => line.startsWith('{"event":"ready"')).map(line => JSON.parse(line))
  const report = reports.findLast(({ pid: reporter }) => pid === null || reporter === pid)
  return report === undefined ? null : { controlUrl: report.control_url, logins: report.logins }
}
