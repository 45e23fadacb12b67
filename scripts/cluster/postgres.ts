// PostgreSQL of the cluster: made once in the data directory, with its default (durable) settings.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nativeFolder, type RunAs, unprivilegedUser, usableBin } from '@trunkline/testkit/postgres/binaries'
import { Client } from 'pg'
import { secretIn } from './files.ts'
import type { Program } from './program.ts'

const DATABASE = 'trunkline'
const CONNECTIONS_MAX = 200

export interface Postgres {
  readonly program: Program
  /** Of the service's database, with its password. */
  readonly url: string
  /** Makes that database if there is none, once the server is ready. */
  prepare(): Promise<void>
}

/** @throws Error with PostgreSQL's own message if the files cannot be made */
export function postgres(dataDir: string, port: number, logFile: string): Postgres {
  const runAs = unprivilegedUser()
  const folder = join(dataDir, 'postgres')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (runAs !== null) chownSync(folder, runAs.uid, runAs.gid)
  const bin = usableBin(nativeFolder(), folder, runAs)
  const password = secretIn(join(dataDir, 'postgres-password'), () => randomBytes(18).toString('hex'))
  if (!existsSync(join(folder, 'data', 'PG_VERSION'))) initialise(bin, folder, password, runAs)
  const urlOf = (database: string) => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
  return {
    url: urlOf(DATABASE),
    prepare: () => createDatabase(urlOf('postgres')),
    program: {
      ...{ name: 'database', title: 'PostgreSQL', address: `127.0.0.1:${port}`, logFile, runAs },
      ...{ command: join(bin, 'postgres'), args: argumentsOf(folder, port), env: { TZ: 'UTC' } },
      // Its fast shutdown: clients are disconnected, data is kept.
      ...{ endSignal: 'SIGINT', endMs: 15_000, restarts: false },
      isReady: () => answers(urlOf('postgres'))
    }
  }
}

function initialise(bin: string, folder: string, password: string, runAs: RunAs): void {
  const [made, secret] = [join(folder, 'data.new'), join(folder, 'password')]
  rmSync(made, { recursive: true, force: true })
  writeFileSync(secret, password, { mode: 0o600 })
  if (runAs !== null) chownSync(secret, runAs.uid, runAs.gid)
  const args = ['-D', made, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '--locale=C']
  const { status, stderr, error } = spawnSync(join(bin, 'initdb'), args, { ...runAs, cwd: folder, encoding: 'utf8', env: { TZ: 'UTC' } })
  rmSync(secret)
  if (status !== 0) {
    const why = error?.message ?? stderr.trim()
    const advice =
      runAs === null ? '' : '\nIt runs as the user nobody, who must be able to enter the data directory: run this as an ordinary user.'
    throw new Error(`PostgreSQL could not make its files in ${folder}: ${why}${advice}`)
  }
  // What an interrupted run left is made again: only whole files get this name.
  renameSync(made, join(folder, 'data'))
}

function argumentsOf(folder: string, port: number): readonly string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: CONNECTIONS_MAX,
    logging_collector: 'off',
    timezone: 'UTC'
  }
  return ['-D', join(folder, 'data'), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function answers(url: string): Promise<boolean> {
  return await withClient(url, () => Promise.resolve(true)).catch(() => false)
}

async function createDatabase(url: string): Promise<void> {
  await withClient(url, async client => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  })
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  // The server may end while a client is connected; its call fails then.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
