import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isAnswered, socketPathIn, statOf } from '../../admin/socket.ts'
import { whyKeysApart } from '../../config/keys-apart.ts'
import { keyFileIn } from '../../vault/index.ts'
import { readKeyFile } from '../../vault/key-file.ts'
import { parseKeySet } from '../../vault/master-keys.ts'
import type { Finding, Known } from './finding.ts'

const FREE_BYTES_MIN = 1024 ** 3

/** The data directory: there or to be made, ours, private, with room. */
export async function checkDataDir({ dataDir }: Known): Promise<readonly Finding[]> {
  if (dataDir === undefined) return []
  const path = resolve(dataDir)
  const about = 'TRUNKLINE_DATA_DIR'
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    const parent = existingParent(path)
    return canHold(parent)
      ? [{ level: 'ok', about, message: `${path} will be made at the first start` }]
      : [{ level: 'fault', about, message: `${path} is not there and cannot be made: ${parent} is no directory that this user can write` }]
  }
  if (!found.isDirectory()) return [{ level: 'fault', about, message: `${path} is not a directory` }]
  if (!isWritable(path)) return [{ level: 'fault', about, message: `${path} is not writable for this user` }]
  const findings: Finding[] = [{ level: 'ok', about, message: `${path} is writable${await serviceIn(path)}` }]
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    findings.push({ level: 'warning', about, message: `${path} is open to other users; make it private with: chmod 700 ${path}` })
  if (process.geteuid !== undefined && found.uid !== process.geteuid())
    findings.push({
      level: 'warning',
      about,
      message: `${path} belongs to another user (id ${found.uid}); is this the user the service runs as?`
    })
  const { bavail, bsize } = statfsSync(path)
  if (bavail * bsize < FREE_BYTES_MIN) findings.push({ level: 'warning', about, message: `${path} has less than 1 GiB left on its disk` })
  return findings
}

/** Master keys: well-formed, and private where they lie in a file. */
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
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return [{ level: 'fault', about: 'TRUNKLINE_LOG_FILE', message: `${path} is a directory` }]
  const isPossible = existsSync(path) ? isWritable(path) : canHold(existingParent(path))
  return isPossible ? [] : [{ level: 'fault', about: 'TRUNKLINE_LOG_FILE', message: `${path} cannot be written` }]
}

async function serviceIn(path: string): Promise<string> {
  const socket = socketPathIn(path)
  if (statOf(socket) === null) return ''
  return (await isAnswered(socket).catch(() => false)) ? '; a service runs on it' : ''
}

function existingParent(path: string): string {
  const parent = dirname(path)
  return existsSync(parent) || parent === path ? parent : existingParent(parent)
}

function canHold(path: string): boolean {
  return statSync(path).isDirectory() && isWritable(path)
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
