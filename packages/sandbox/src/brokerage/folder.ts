/** The data folder: its lock for a single sandbox, and its persistent keys. */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '@trunkline/files/durable'
import { takeKernelLock } from '@trunkline/files/kernel-lock'
import { newOAuthKeys, type OAuthKeys } from './oauth/provider.ts'

/** Signing keys of tokens, cookies and cursors. */
export interface Keys extends OAuthKeys {
  readonly cursors: string
}

/** The folder's keys, created at the first start; `folder` null: keys for this start only. */
export function keysOf(folder: string | null, newId: () => string): Keys {
  const path = folder === null ? null : join(folder, 'keys.json')
  if (path !== null && existsSync(path)) return readJsonFile<Keys>(path)
  const keys: Keys = { ...newOAuthKeys(newId), cursors: newId() }
  if (path !== null) writeDurably(path, JSON.stringify(keys))
  return keys
}

/** What the sandbox wrote to a file of its folder. @throws Error that names the file and says what to do */
export function readJsonFile<Content>(path: string): Content {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Content
  } catch (cause) {
    const message = `${path} cannot be read. Restore it from a backup, or delete the folder that it is in: the sandbox then begins with empty accounts.`
    throw new Error(message, { cause })
  }
}

/** Queries about the machine's processes; tests replace it. */
export interface Processes {
  isAlive(pid: number): boolean
  /** The start of a process and the boot of the machine, because process ids are reused. Empty if the system does not report it. */
  startOf(pid: number): string
}

/**
 * Claims the folder for this process. Two checks must agree: the kernel's lock, which only one of several simultaneous starts gets, and the
 * holder's name beside it, which also works on file systems that grant such locks to every process.
 * @returns a function that releases the folder.
 * @throws Error naming the holder if a living process has it.
 */
export function holdFolder(folder: string, processes: Processes = HOST): () => void {
  const path = join(folder, 'house.lock')
  const lock = takeKernelLock(join(folder, 'folder.lock'))
  if (lock === null) throw heldBy(folder, holderOf(path, processes))
  try {
    const holder = holderOf(path, processes)
    if (holder !== null) throw heldBy(folder, holder)
    writeDurably(path, `${process.pid} ${processes.startOf(process.pid)}`)
  } catch (error) {
    lock.close()
    throw error
  }
  return () => {
    rmSync(path, { force: true })
    lock.close()
  }
}

/** The living process that the file names. */
function holderOf(path: string, { isAlive, startOf }: Processes): number | null {
  const [text = '', started = ''] = existsSync(path) ? readFileSync(path, 'utf8').split(' ') : []
  const pid = Number(text)
  if (!(pid > 0) || !isAlive(pid)) return null
  const startNow = startOf(pid)
  return started === '' || startNow === '' || started === startNow ? pid : null
}

function heldBy(folder: string, pid: number | null): Error {
  const who = pid === null ? 'another sandbox that is starting' : `the sandbox with process id ${pid}`
  return new Error(`The folder ${folder} is in use by ${who}. Stop it first, or choose another folder.`)
}

const HOST: Processes = { isAlive, startOf }

function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The twentieth field after the name, which may contain spaces and parentheses.
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
