/** The data folder: one house at a time, and the keys that must outlive it. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '@trunkline/files/durable'
import { newOAuthKeys, type OAuthKeys } from './oauth/provider.ts'

/** Signing keys of tokens, cookies and cursors. */
export interface Keys extends OAuthKeys {
  readonly cursors: string
}

/** The folder's keys, made at the first start; `folder` null: keys for this start only. */
export function keysOf(folder: string | null, newId: () => string): Keys {
  const path = folder === null ? null : join(folder, 'keys.json')
  if (path !== null && existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Keys
  const keys: Keys = { ...newOAuthKeys(newId), cursors: newId() }
  if (path !== null) writeDurably(path, JSON.stringify(keys))
  return keys
}

/**
 * Claims the folder for this process. @returns how to give it back.
 * @throws Error naming the holder when a living process has it.
 */
export function holdFolder(folder: string): () => void {
  const path = join(folder, 'house.lock')
  const [pid = '', started = ''] = existsSync(path) ? readFileSync(path, 'utf8').split(' ') : []
  const holder = Number(pid)
  if (holder > 0 && isAlive(holder) && (started === '' || startOf(holder) === '' || started === startOf(holder)))
    throw new Error(`The folder ${folder} is in use by the sandbox with process id ${holder}.`)
  rmSync(path, { force: true })
  writeFileSync(path, `${process.pid} ${startOf(process.pid)}`, { flag: 'wx', mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** When a process began, of which start of the machine: numbers are given again. Empty where the system does not say. */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Behind the name, which may hold spaces and parentheses, the twentieth field.
    const [, since = ''] = /^.*\)(?: \S+){19} (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return `${boot}/${since}`
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
