// Starts the real service as a program, with a data directory and a database of its own, for tests that see it only from outside.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, cpSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { METRICS_TOKEN } from '@trunkline/testkit/metrics'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { INHERITED, SHORT_LIVED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'

const ROOT = resolve(import.meta.dirname, '..', '..')

/** The databases that everything must work on alike. */
export const ENGINES = ['embedded', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]
/** Prints where an embedded database lies that has its schema and nothing in it. */
const TEMPLATE = join(ROOT, 'packages/server/test/store/store-template.ts')
let template: Promise<string> | null = null

/** What the service writes for a newcomer at its first start. */
export interface Demo {
  readonly client_id: string
  readonly client_secret: string
  readonly base_url: string
  readonly stream_url: string
  readonly market_data_stream_url: string
  readonly sandbox_control_url: string
  readonly sandbox_logins: readonly { readonly username: string; readonly password: string }[]
}

/** A running service, seen from outside. */
export interface RunningService extends AsyncDisposable {
  readonly url: string
  readonly demo: Demo
  readonly dataDir: string
  /** Everything it has written to its standard output and error so far. */
  readonly output: () => string
  readonly isRunning: () => boolean
  /** Asks it to stop, as an operator does, without waiting. */
  readonly interrupt: () => void
}

/**
 * Starts the service and waits until it is ready. Disposing stops it, and fails if it did not stop well. It finds a database with its
 * schema; with `none` it makes its own, as for a newcomer, unless `env` names one. `program`, relative to the checkout, may be another one
 * that composes the service. `openFilesMax` limits its descriptors.
 */
export async function startService(
  engine: Engine | 'none',
  env: Readonly<Record<string, string>> = {},
  program = 'packages/server/src/main.ts',
  openFilesMax: number | null = null
): Promise<RunningService> {
  const resources = new AsyncDisposableStack()
  try {
    return await start(engine, env, commandOf(program, openFilesMax), resources)
  } catch (cause) {
    await resources.disposeAsync()
    throw cause
  }
}

async function start(
  engine: Engine | 'none',
  env: Readonly<Record<string, string>>,
  [command, args]: Command,
  resources: AsyncDisposableStack
): Promise<RunningService> {
  const dataDir = env.TRUNKLINE_DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'trunkline-acceptance-')))
  // One that was named is for the next start, too.
  if (env.TRUNKLINE_DATA_DIR === undefined) resources.defer(() => rm(dataDir, { recursive: true, force: true }))
  const settings = {
    TRUNKLINE_PORT: '0',
    TRUNKLINE_DATA_DIR: dataDir,
    TRUNKLINE_METRICS_TOKEN: METRICS_TOKEN,
    ...(await databaseOf(engine, dataDir, resources)),
    ...env
  }
  const child = spawn(command, args, {
    cwd: dataDir,
    env: { ...INHERITED, ...settings },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  resources.defer(() => stop(child, () => output))
  const demo = await ready(child, join(dataDir, 'demo-platform.json'), () => output)
  return {
    url: demo.base_url,
    demo,
    dataDir,
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    interrupt: () => void child.kill('SIGTERM'),
    [Symbol.asyncDispose]: () => resources.disposeAsync()
  }
}

type Command = readonly [command: string, args: readonly string[]]

/** `openFilesMax`: files and sockets that the program may have open, as a shell limits them. */
function commandOf(program: string, openFilesMax: number | null): Command {
  const args = [...SHORT_LIVED, join(ROOT, program)]
  if (openFilesMax === null) return [process.execPath, args]
  return ['/bin/sh', ['-c', `ulimit -n ${openFilesMax} && exec "$0" "$@"`, process.execPath, ...args]]
}

async function databaseOf(
  engine: Engine | 'none',
  dataDir: string,
  resources: AsyncDisposableStack
): Promise<Readonly<Record<string, string>>> {
  if (engine === 'none') return {}
  if (engine === 'embedded') {
    // Making one costs twice as much as the rest of a start.
    template ??= promisify(execFile)(process.execPath, [TEMPLATE], { env: INHERITED }).then(({ stdout }) => stdout)
    cpSync(await template, join(dataDir, 'database'), { recursive: true, mode: constants.COPYFILE_FICLONE })
    return {}
  }
  const cluster = resources.use(await sharedPostgres())
  const database = resources.use(await createDatabase(cluster.url))
  return { TRUNKLINE_DATABASE_URL: database.url }
}

async function ready(child: ChildProcess, path: string, output: () => string): Promise<Demo> {
  let demo: Demo | undefined
  const isReady = async () => {
    assert.equal(child.exitCode, null, `the service ended:\n${output()}`)
    // Of an earlier start of the same data directory there is one with another address.
    demo = await readFile(path, 'utf8').then(JSON.parse, () => undefined)
    return (
      demo !== undefined &&
      (await fetch(`${demo.base_url}/readyz`).then(
        ({ ok }) => ok,
        () => false
      ))
    )
  }
  await until(isReady, 'the service is ready', PATIENCE_MS).catch(cause => {
    throw new Error(`the service did not become ready; it wrote:\n${output()}`, { cause })
  })
  assert.ok(demo !== undefined)
  return demo
}

async function stop(child: ChildProcess, output: () => string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })
    if (!child.killed) child.kill('SIGTERM')
    await gone.catch(cause => {
      child.kill('SIGKILL')
      throw new Error(`the service did not stop; it wrote:\n${output().slice(-4_000)}`, { cause })
    })
  }
  assert.equal(child.exitCode, 0, `the service ended badly:\n${output().slice(-4_000)}`)
}
