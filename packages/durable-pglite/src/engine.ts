/** Starts PGlite so that a commit reaches the disk, and proves that it does. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { DurableFs, type DurableFsOptions, die } from './durable-fs.ts'
import { EngineRefused } from './errors.ts'
import { DEFAULT_TYPES, decodeReplies, encodeScript, type Reply } from './wire.ts'

export interface EngineOptions extends Omit<DurableFsOptions, 'onAbort'> {
  readonly sharedBuffersMb: number
  readonly filesMax: number
}

/** PGlite as bytes in, bytes out. */
export interface Engine {
  /** Answers one wire message; the answer does not share memory with the engine. */
  exchange(message: Uint8Array): Uint8Array<ArrayBuffer>
  /** Shuts the database down cleanly. */
  close(): Promise<void>
}

/** Opens the database in the directory, and creates it if the directory is empty. @throws EngineRefused */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  // PostgreSQL's own lock file: after a power cut it may be empty, which it refuses from then on. Our lock (lock.ts) is the one that
  // counts.
  rmSync(join(options.directory, 'postmaster.pid'), { force: true })
  const lastLines: string[] = []
  let opened = false
  const onAbort = (reason: string): void => {
    // During the start, the following error reports it; later the engine would swallow that error and go on.
    if (opened) die(`the database engine stopped: ${[...lastLines, reason].join(' ')}`)
  }
  const pglite = await PGlite.create({
    fs: new DurableFs({ ...options, onAbort }),
    startParams: startParameters(options),
    // Small segments: a new one is filled with zeros and synced while a commit waits.
    initDbStartParams: ['--wal-segsize=4'],
    onStderr: line => {
      lastLines.push(line)
      if (lastLines.length > 10) lastLines.shift()
      return false
    }
  }).catch((cause: unknown) => {
    throw new EngineRefused('damaged', `The database in ${options.directory} cannot be opened: ${lastLines.join(' ') || String(cause)}`, {
      cause
    })
  })
  opened = true
  return {
    exchange: message => exchange(pglite, message),
    async close() {
      runScript(script => exchange(pglite, script), 'CHECKPOINT')
      opened = false
      await pglite.close()
    }
  }
}

function startParameters({ sharedBuffersMb, filesMax }: EngineOptions): string[] {
  const settings = {
    wal_sync_method: 'fsync', // the default, fdatasync, never leaves the engine
    shared_buffers: `${sharedBuffersMb}MB`,
    max_files_per_process: String(filesMax),
    maintenance_work_mem: '16MB', // the engine's memory grows and never shrinks
    log_min_messages: 'fatal', // failed statements are the caller's to log; their text may hold data
    default_statistics_target: '25', // ANALYZE makes all callers wait, for a time in proportion to this
    random_page_cost: '1.1'
  }
  // -F disables fsync.
  return [
    ...PGlite.defaultStartParams.filter(parameter => parameter !== '-F'),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  ]
}

function exchange(pglite: PGlite, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  // Synchronous; the promise is only for the file system's own sync, which is disabled.
  void pglite.execProtocolRawStream(message, {
    syncToFs: false,
    onRawData: data => {
      chunks.push(new Uint8Array(data)) // a copy: the engine reuses that memory
      length += data.byteLength
    }
  })
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const answer = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    answer.set(chunk, at)
    at += chunk.byteLength
  }
  return answer
}

const REQUIRED = { fsync: 'on', wal_sync_method: 'fsync', full_page_writes: 'on', synchronous_commit: 'on', data_checksums: 'on' }

/** Refuses an engine whose commits do not reach the disk, whatever its settings. @throws EngineRefused */
export function provesDurability(engine: Engine, fsyncs: BigInt64Array): void {
  const run = (sql: string): Reply => runScript(script => engine.exchange(script), sql)
  for (const [setting, wanted] of Object.entries(REQUIRED)) {
    const found = run(`SHOW ${setting}`).rows[0]?.[setting]
    if (found !== wanted)
      throw new EngineRefused('not_durable', `The database engine must run with ${setting}=${wanted}, runs with ${String(found)}.`)
  }
  const before = Atomics.load(fsyncs, 0)
  run(`SELECT pg_logical_emit_message(true, 'trunkline', 'a commit that must reach the disk')`)
  if (Atomics.load(fsyncs, 0) > before) return
  throw new EngineRefused(
    'not_durable',
    'A commit did not reach the disk: this version of PGlite ignores our fsync. Nothing is served without it.'
  )
}

/** Runs a script in this thread. @throws its error */
export function runScript(exchange: (message: Uint8Array) => Uint8Array, sql: string): Reply {
  const [reply] = decodeReplies(exchange(encodeScript(sql)), DEFAULT_TYPES)
  if (reply === undefined) throw new Error(`the engine left ${JSON.stringify(sql)} unanswered`)
  if (reply.error !== null) throw reply.error
  return reply
}
