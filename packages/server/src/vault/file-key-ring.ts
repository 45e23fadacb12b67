import { existsSync } from 'node:fs'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import {
  changeKeyFile,
  createKeyFile,
  freshKey,
  KeyFileRefused,
  keyFileChangedAt,
  readKeyFile,
  removeKeyFile,
  stateOfKeyFile
} from './key-file.ts'
import { instanceKeyOf, type KeyRing, type KeySet, type MasterKey } from './master-keys.ts'

export interface FileKeyRingDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** The next seal notices another process's rotation after this long. */
export const NOTICE_MS = 1_000

/**
 * Keys in a file that several processes may share. A seal checks the file at most once a second, and an unknown key's seal always does. If
 * the file becomes unusable, the known keys stay in force, with a log message.
 */
export class FileKeyRing implements KeyRing {
  readonly path: string
  readonly #deps: FileKeyRingDeps
  #set: KeySet
  #state: string | null
  #lookedAt: number
  #complaint: string | null = null
  /** The key in the file that this ring created; null if the file was there. */
  #createdKeyId: string | null = null

  /** @throws KeyFileRefused */
  constructor(path: string, deps: FileKeyRingDeps) {
    this.path = path
    this.#deps = deps
    this.#state = stateOfKeyFile(path)
    this.#set = readKeyFile(path)
    this.#lookedAt = deps.clock.monotonicMs()
  }

  /** The same; creates the file at the first start. */
  static openOrCreate(path: string, deps: FileKeyRingDeps): FileKeyRing {
    const createdKeyId = existsSync(path) ? null : createKeyFile(path)
    const ring = new FileKeyRing(path, deps)
    ring.#createdKeyId = createdKeyId
    return ring
  }

  /**
   * Removes the file if this ring created it and nothing was added since. For a start that is refused because other keys are needed:
   * nothing is sealed with the new one, since no process starts with it.
   */
  removeCreated(): void {
    if (this.#createdKeyId !== null) removeKeyFile(this.path, this.#createdKeyId)
  }

  current(): MasterKey {
    if (this.#deps.clock.monotonicMs() - this.#lookedAt >= NOTICE_MS) this.#look()
    return this.#set.keys[0]
  }

  find(id: string): MasterKey | undefined {
    return this.#known(id) ?? (this.#look() ? this.#known(id) : undefined)
  }

  ids(): readonly string[] {
    this.#look()
    return this.#set.keys.map(key => key.id)
  }

  instanceKey(): Uint8Array {
    return instanceKeyOf(this.#set)
  }

  /** How long the current key has been current, at least. */
  changedAt(): Timestamp {
    return keyFileChangedAt(this.path)
  }

  /** Makes a new key the current one; older seals still open. @throws KeyFileRefused */
  addKey(): MasterKey {
    const key = freshKey()
    // Stored the first time, so that it survives the key it was derived from.
    this.#changed(changeKeyFile(this.path, set => ({ keys: [key, ...set.keys], instance: instanceKeyOf(set) })))
    return key
  }

  /**
   * Drops every key except the current one. Call it only if no seal uses the others any more. Returns the dropped ids.
   * @throws KeyFileRefused if `expectedId` is no longer the current key.
   */
  dropOthers(expectedId: string): readonly string[] {
    let dropped: readonly string[] = []
    this.#changed(
      changeKeyFile(this.path, set => {
        const [current, ...others] = set.keys
        if (current.id !== expectedId) throw new KeyFileRefused(`${this.path} got another current key meanwhile; nothing was dropped`)
        dropped = others.map(({ id }) => id)
        return { keys: [current], instance: instanceKeyOf(set) }
      })
    )
    return dropped
  }

  #known(id: string): MasterKey | undefined {
    return this.#set.keys.find(key => key.id === id)
  }

  #changed(set: KeySet): void {
    this.#set = set
    this.#state = stateOfKeyFile(this.path)
  }

  /** Whether the file had changed. */
  #look(): boolean {
    this.#lookedAt = this.#deps.clock.monotonicMs()
    try {
      const state = stateOfKeyFile(this.path)
      if (state === this.#state && this.#complaint === null) return false
      const before = this.#set.keys[0].id
      this.#set = readKeyFile(this.path)
      this.#state = state
      this.#complaint = null
      const [{ id }] = this.#set.keys
      if (id !== before) this.#deps.log.info('new seals use another master key from now on', { keyId: id })
      return true
    } catch (cause) {
      const complaint = cause instanceof Error ? cause.message : String(cause)
      if (complaint !== this.#complaint)
        this.#deps.log.warn('the file of master keys became unusable; the known keys stay in force', { cause })
      this.#complaint = complaint
      return false
    }
  }
}
