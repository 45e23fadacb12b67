import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { whyNotMakeable } from '@trunkline/files/durable'
import { isAnswered, socketPathIn, statOf } from '../admin/socket.ts'
import { whyKeysApart } from '../config/keys-apart.ts'
import { keyFileIn } from '../vault/index.ts'
import { readKeyFile } from '../vault/key-file.ts'
import { parseKeySet } from '../vault/master-keys.ts'
import type { Finding, Known } from './finding.ts'

const FREE_BYTES_MIN = 1024 ** 3

/** Whether a service runs on the data directory: its socket answers. */
export async function serviceRunsOn({ dataDir }: Known): Promise<boolean> {
  if (dataDir === undefined || !isFolder(resolve(dataDir))) return false
  const socket = socketPathIn(resolve(dataDir))
  return statOf(socket) !== null && (await isAnswered(socket).catch(() => false))
}

interface Use {
  /** Whether a service runs on it. */
  readonly isRunning: boolean
  /** Whether another one is starting there. */
  readonly toStart: boolean
}

/** Checks the data directory: existing or creatable, ours, private, with free space. */
export function checkDataDir({ dataDir }: Known, { isRunning, toStart }: Use): readonly Finding[] {
  if (dataDir === undefined) return []
  const path = resolve(dataDir)
  const about = 'TRUNKLINE_DATA_DIR'
  const found = isFolder(path)
  if (!found) {
    const why = whyNotMakeable(path)
    return why === null
      ? [{ level: 'ok', about, message: `${path} will be made at the first start` }]
      : [{ level: 'fault', about, message: `${path} cannot be created: ${why}` }]
  }
  if (!isWritable(path)) return [{ level: 'fault', about, message: `${path} is not writable for this user` }]
  if (isRunning && toStart)
    return [
      {
        level: 'fault',
        about,
        message: `${path} has a service running on it. Stop that one (Ctrl-C in its terminal, or SIGTERM to its process), or start with another directory and port`
      }
    ]
  const findings: Finding[] = [{ level: 'ok', about, message: `${path} is writable${isRunning ? '; a service runs on it' : ''}` }]
  const { mode, uid } = statSync(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    findings.push({ level: 'warning', about, message: `${path} is open to other users; make it private with: chmod 700 ${path}` })
  if (process.geteuid !== undefined && uid !== process.geteuid())
    findings.push({
      level: 'warning',
      about,
      message: `${path} belongs to another user (id ${uid}); is this the user the service runs as?`
    })
  const { bavail, bsize } = statfsSync(path)
  if (bavail * bsize < FREE_BYTES_MIN) findings.push({ level: 'warning', about, message: `${path} has less than 1 GiB left on its disk` })
  return findings
}

/** Checks master keys: well-formed, and private if they are in a file. */
export function checkKeys(known: Known): readonly Finding[] {
  const { masterKeys, masterKeysCommand, dataDir, databaseUrl } = known
  if (masterKeys === undefined || dataDir === undefined) return []
  const apart = whyKeysApart(known)
  if (apart !== null) return [{ level: 'fault', about: 'TRUNKLINE_MASTER_KEYS', message: apart }]
  if (masterKeysCommand != null)
    return [{ level: 'ok', about: 'TRUNKLINE_MASTER_KEYS_COMMAND', message: 'gives the keys at the start; not run by this check' }]
  const path = keyFileIn(resolve(dataDir))
  try {
    if (masterKeys !== null) {
      const { keys } = parseKeySet(masterKeys)
      return [
        {
          level: 'ok',
          about: 'TRUNKLINE_MASTER_KEYS',
          message: `${keys.length === 1 ? 'one key' : `${keys.length} keys`}, ${keys[0].id} is current`
        }
      ]
    }
    if (existsSync(path)) {
      const { keys } = readKeyFile(path)
      return [
        { level: 'ok', about: path, message: `private, ${keys.length === 1 ? 'one key' : `${keys.length} keys`}, ${keys[0].id} is current` }
      ]
    }
  } catch (cause) {
    return [{ level: 'fault', about: 'TRUNKLINE_MASTER_KEYS', message: cause instanceof Error ? cause.message : 'cannot be read' }]
  }
  const message = 'not set: the first start makes a key in the data directory'
  return databaseUrl === null
    ? [{ level: 'ok', about: 'TRUNKLINE_MASTER_KEYS', message }]
    : [
        {
          level: 'warning',
          about: 'TRUNKLINE_MASTER_KEYS',
          message: `${message}. Every node of a database needs the same keys: share that file or set them`
        }
      ]
}

export function checkLogFile({ logFile }: Known): readonly Finding[] {
  if (logFile === undefined || logFile === null) return []
  const path = resolve(logFile)
  const about = 'TRUNKLINE_LOG_FILE'
  if (isFolder(path)) return [{ level: 'fault', about, message: `${path} is a directory` }]
  if (existsSync(path)) return isWritable(path) ? [] : [{ level: 'fault', about, message: `${path} cannot be written` }]
  const folder = dirname(path)
  const why = isFolder(folder) ? (isWritable(folder) ? null : `${folder} is not writable for this user`) : whyNotMakeable(folder)
  return why === null ? [] : [{ level: 'fault', about, message: `${path} cannot be written: ${why}` }]
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
