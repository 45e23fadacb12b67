// A temporary cluster: initialised in a private temporary folder, watched by a warden, reachable on loopback with a random password.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nativeFolder, type RunAs, temporaryFolder, unprivilegedUser, usableBin } from './binaries.ts'
import type { WardenOrders } from './warden-orders.ts'

/** A running cluster. `url` is its superuser's, on the database `postgres`. */
export interface PostgresServer extends AsyncDisposable {
  readonly url: string
  /** Stops the cluster and removes its files. Open connections are closed. Idempotent. */
  stop(): Promise<void>
}

const START_ATTEMPTS = 3
const CONNECTIONS_MAX = 200
const WARDEN = fileURLToPath(new URL('./warden.ts', import.meta.url))

/**
 * Starts PostgreSQL with its default (durable) settings on a free port of 127.0.0.1, in about a second. It ends with `stop()`, or when this
 * process ends in any way.
 * @throws Error with PostgreSQL's own message
 */
export async function startPostgres(): Promise<PostgresServer> {
  const runAs = unprivilegedUser()
  const scratch = mkdtempSync(join(temporaryFolder(runAs), 'trunkline-postgres-'))
  try {
    chmodSync(scratch, 0o700)
    if (runAs !== null) chownSync(scratch, runAs.uid, runAs.gid)
    const bin = usableBin(nativeFolder(), scratch, runAs)
    const password = randomBytes(18).toString('hex')
    initialise(bin, scratch, password, runAs)
    return await serve(bin, scratch, password, runAs)
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true })
    throw error
  }
}

function initialise(bin: string, scratch: string, password: string, runAs: RunAs): void {
  const secret = join(scratch, 'password')
  writeFileSync(secret, password, { mode: 0o600 })
  if (runAs !== null) chownSync(secret, runAs.uid, runAs.gid)
  const args = [
    '-D',
    join(scratch, 'data'),
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${secret}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync'
  ]
  const { status, stderr, error } = spawnSync(join(bin, 'initdb'), args, { ...runAs, cwd: scratch, encoding: 'utf8', env: { TZ: 'UTC' } })
  rmSync(secret)
  if (status !== 0) throw new Error(`PostgreSQL could not make a cluster: ${error?.message ?? stderr.trim()}`)
}

/** Runs a server on the cluster in `data` of a scratch folder, which is removed when it ends. @param more additional settings */
export async function serve(
  bin: string,
  scratch: string,
  password: string,
  runAs: RunAs,
  more: Readonly<Record<string, string>> = {}
): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      const stop = await startUnderWarden({ program: join(bin, 'postgres'), args: serverArguments(scratch, port, more), runAs, scratch })
      return { url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, stop, [Symbol.asyncDispose]: stop }
    } catch (error) {
      // Another program may take the free port before it is used.
      const taken = error instanceof Error && /could not bind|Address already in use/.test(error.message)
      if (!taken || attempt === START_ATTEMPTS) throw error
    }
  }
}

function serverArguments(scratch: string, port: number, more: Readonly<Record<string, string>>): readonly string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: CONNECTIONS_MAX,
    logging_collector: 'off',
    timezone: 'UTC',
    ...more
  }
  return ['-D', join(scratch, 'data'), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function startUnderWarden(orders: WardenOrders): Promise<() => Promise<void>> {
  // Detached: Ctrl-C in a terminal reaches us and not PostgreSQL; closing the warden's input stops that in order.
  const warden = spawn(process.execPath, [WARDEN, JSON.stringify(orders)], { stdio: ['pipe', 'pipe', 'ignore'], detached: true, cwd: '/' })
  const ended = new Promise<void>(resolve => warden.once('exit', () => resolve()))
  await ready(warden)
  letGo(warden)
  return async () => {
    warden.ref()
    warden.stdin?.end()
    await ended
  }
}

function ready(warden: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    warden.once('error', reject)
    warden.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (output.startsWith('ready\n')) resolve()
    })
    warden.once('close', () => reject(new Error(`PostgreSQL did not start: ${output.trim()}`)))
  })
}

// A cluster that was not stopped does not keep the process alive.
function letGo(warden: ChildProcess): void {
  warden.unref()
  for (const stream of [warden.stdin, warden.stdout])
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port was given'))))
    })
  })
}
