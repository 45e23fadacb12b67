// A second server that follows a cluster: both have all confirmed commits, and the second takes over when it is promoted.
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import { until } from '../until.ts'
import { giveTo, nativeFolder, temporaryFolder, unprivilegedUser, usableBin } from './binaries.ts'
import { type PostgresServer, serve } from './cluster.ts'

/** A replica that can take over. `url` has the same user as the first server's. */
export interface PostgresReplica extends PostgresServer {
  /** Kills the followed server like a failing machine: without shutdown, without closing connections. */
  killFirst(): void
  /** Makes it accept writes. The first server must be gone. */
  promote(): Promise<void>
}

const COPIES_MAX = 5
/** Files that belong to the running server, or that the copy creates. */
const NOT_COPIED: readonly string[] = ['postmaster.pid', 'postmaster.opts', 'backup_label', 'pgsql_tmp']

/**
 * Starts a replica of a running cluster. Once it resolves, the first server confirms a commit only after the replica has it on its disk. It
 * uses the superuser of `first`, whose folder must be on this machine.
 */
export async function followPostgres(first: PostgresServer): Promise<PostgresReplica> {
  const runAs = unprivilegedUser()
  const scratch = mkdtempSync(join(temporaryFolder(runAs), 'trunkline-replica-'))
  const client = new Client({ connectionString: first.url })
  await client.connect()
  try {
    chmodSync(scratch, 0o700)
    if (runAs !== null) chownSync(scratch, runAs.uid, runAs.gid)
    const data = join(scratch, 'data')
    const from = await one(client, `select current_setting('data_directory') as value`)
    await client.query(`select pg_backup_start('replica', true)`)
    copied(from, data)
    writeFileSync(join(data, 'backup_label'), await one(client, 'select labelfile as value from pg_backup_stop(false)'))
    writeFileSync(join(data, 'standby.signal'), '')
    chmodSync(data, 0o700)
    if (runAs !== null) giveTo(data, runAs)
    const { port, password } = new URL(first.url)
    const conninfo = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=replica`
    const server = await serve(usableBin(nativeFolder(), scratch, runAs), scratch, password, runAs, {
      primary_conninfo: conninfo,
      wal_retrieve_retry_interval: '200ms'
    })
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
    const state = `select coalesce(max(sync_state), '') as value from pg_stat_replication`
    await until(async () => (await one(client, state)) === 'sync', 'the replica follows')
    const pid = Number(readFileSync(join(from, 'postmaster.pid'), 'utf8').split('\n')[0])
    return { ...server, killFirst: () => killAll(pid), promote: () => promoted(server.url) }
  } catch (cause) {
    rmSync(scratch, { recursive: true, force: true })
    throw cause
  } finally {
    await client.end()
  }
}

/** A running server removes files; the log that it writes meanwhile tells how to read the copied ones. */
function copied(from: string, to: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      cpSync(from, to, { recursive: true, filter: path => !NOT_COPIED.includes(basename(path)) })
      return
    } catch (cause) {
      if (attempt === COPIES_MAX || !(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause
      rmSync(to, { recursive: true, force: true })
    }
  }
}

function killAll(postmaster: number): void {
  // Its processes end by themselves when the server is gone.
  process.kill(postmaster, 'SIGKILL')
}

async function promoted(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_promote(true)')
  } finally {
    await client.end()
  }
}

async function one(client: Client, query: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>(query)
  return rows[0]?.value ?? ''
}
