/**
 * One process per data directory.
 * Two proofs must agree before a directory is taken over: the kernel's lock on a file, which dies with its holder and is seen across
 * containers, and the identity the holder wrote beside it, which also covers file systems whose locks do nothing.
 * A heartbeat proves nothing: a busy engine does not send any while it writes.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '@trunkline/files/durable'
import { takeKernelLock } from '@trunkline/files/kernel-lock'
import { EngineRefused } from './errors.ts'
import { codeOf, mayLive, type ProcessIdentity, thisProcess } from './host.ts'

export interface DirectoryLock {
  /** Releases the directory. */
  release(): void
}

/** Takes the directory, or reports its owner, at once. @throws EngineRefused */
export function lockDirectory(directory: string, self: ProcessIdentity = thisProcess()): DirectoryLock {
  const ownerFile = join(directory, 'owner.json')
  const kernelLock = takeKernelLock(join(directory, 'owner.lock'))
  if (kernelLock === null) throw held(directory, readOwner(ownerFile), 'is running')
  try {
    const owner = readOwner(ownerFile)
    const reason = owner === null ? null : whyNot(owner, self)
    if (reason !== null) throw held(directory, owner, reason)
    writeDurably(ownerFile, `${JSON.stringify(self)}\n`)
  } catch (error) {
    kernelLock.close()
    throw error
  }
  return {
    release(): void {
      rmSync(ownerFile, { force: true })
      kernelLock.close()
    }
  }
}

/** Why a directory stays with its owner although the kernel's lock is free; null if the owner is provably dead. */
function whyNot(owner: ProcessIdentity, self: ProcessIdentity): string | null {
  const bootsKnown = owner.bootId !== null && self.bootId !== null
  if (bootsKnown && owner.bootId === self.bootId) return owner.pidSpace === self.pidSpace && mayLive(owner) ? 'is running' : null
  if (owner.hostname !== self.hostname) return 'was on another machine, which may still be running it'
  return bootsKnown || !mayLive(owner) ? null : 'is running'
}

function held(directory: string, owner: ProcessIdentity | null, reason: string): EngineRefused {
  const who = owner === null ? 'another process' : `process ${owner.pid} on ${owner.hostname}`
  return new EngineRefused(
    'held',
    `The data directory ${directory} belongs to ${who}, which ${reason}. Stop it first; if it is certainly gone, delete ${join(directory, 'owner.json')}.`
  )
}

function readOwner(file: string): ProcessIdentity | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  const owner: unknown = parse(text)
  if (isIdentity(owner)) return owner
  throw new EngineRefused(
    'held',
    `${file} must name the process that holds the directory but cannot be read; delete it if no process does.`
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'hostname' in value &&
    typeof value.hostname === 'string' &&
    ['bootId', 'startedAt', 'pidSpace'].every(part => {
      const found: unknown = Reflect.get(value, part)
      return found === null || typeof found === 'string'
    })
  )
}
