// Stand-ins for the programs of a cluster, and what their supervisor reports.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Program } from '../../cluster/program.ts'
import { Supervisor, type SupervisorTiming } from '../../cluster/supervisor.ts'

const STAND_IN = fileURLToPath(new URL('./stand-in.ts', import.meta.url))
/** Long enough for any machine, except where a test waits for it. */
export const TIMING: SupervisorTiming = { readyMs: 120_000, pollMs: 20, restartMs: 50, restartMsMax: 200, steadyMs: 600_000 }

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

export function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-cluster-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A node that is a small HTTP server in a process of its own. */
export function standIn(folder: string, name: string, port: number, more: Partial<Program> = {}): Program {
  const address = `http://127.0.0.1:${port}`
  return {
    ...{ name, title: `node ${name}`, address, command: process.execPath, args: [STAND_IN, name, String(port)], env: {}, runAs: null },
    ...{ logFile: join(folder, `${name}.log`), endSignal: 'SIGTERM', endMs: 120_000, restarts: true },
    isReady: () =>
      fetch(`${address}/readyz`).then(
        ({ ok }) => ok,
        () => false
      ),
    ...more
  }
}

/** A program whose text is given: it is ready at once. */
export function script(folder: string, name: string, text: string, more: Partial<Program> = {}): Program {
  return standIn(folder, name, 1, { args: ['--eval', text], isReady: async () => true, ...more })
}

export interface Stage {
  readonly supervisor: Supervisor
  readonly lines: string[]
  /** The processes that have begun and not ended. */
  readonly running: Set<number>
  pidOf(name: string): number
}

/** A supervisor that is stopped with the test, every group of it. */
export function stageOf(t: TestContext, groups: readonly (readonly Program[])[], timing: SupervisorTiming = TIMING): Stage {
  const [lines, running] = [[] as string[], new Set<number>()]
  const output = {
    print: (line: string) => void lines.push(line),
    began: (pid: number) => void running.add(pid),
    ended: (pid: number) => void running.delete(pid)
  }
  const supervisor = new Supervisor(groups, output, timing)
  t.after(async () => {
    for (const index of groups.keys()) await supervisor.stopGroup(index)
  })
  const pidOf = (name: string) => supervisor.status().find(({ program }) => program.name === name)?.pid ?? 0
  return { supervisor, lines, running, pidOf }
}
