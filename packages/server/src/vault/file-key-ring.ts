import { existsSync } from 'node:fs'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { changeKeyFile, createKeyFile, freshKey, KeyFileRefused, keyFileChangedAt, readKeyFile, stateOfKeyFile } from './key-file.ts'
import { instanceKeyOf, type KeyRing, type KeySet, type MasterKey } from './master-keys.ts'

export interface FileKeyRingDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** A rotation by another process is noticed by the next seal after this long. */
export const NOTICE_MS = 1_000

/**
 * Keys in a file that several processes may share. The file is looked at again once a second at most when something is sealed, and whenever
 * a seal names a key that is not known. A file that became unusable leaves the known keys in force, with a log message.
 */
export class FileKeyRing implements KeyRing {
  readonly path: string
  readonly #deps: FileKeyRingDeps
  #set: KeySet
  #state: string | null
  #lookedAt: number
  #complaint: string | null = null

  /** @throws KeyFileRefused */
  constructor(path: string, deps: FileKeyRingDeps) {
    this.path = path
    this.#deps = deps
    this.#state = stateOfKeyFile(path)
    this.#set = readKeyFile(path)
    this.#lookedAt = deps.clock.monotonicMs()
  }

  /** The same, making the file at the first start. */
  static openOrCreate(path: string, deps: FileKeyRingDeps): FileKeyRing {
    if (!existsSync(path)) createKeyFile(path)
    return new FileKeyRing(path, deps)
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

  /** The current key has been current for at least as long. */
  changedAt(): Timestamp {
    return keyFileChangedAt(this.path)
  }

  /** Puts a fresh key in front and uses it from now on; what was sealed before still opens. @throws KeyFileRefused */
  addKey(): MasterKey {
    const key = freshKey()
    // Written down the first time, so that it survives the key it followed from.
    this.#changed(changeKeyFile(this.path, set => ({ keys: [key, ...set.keys], instance: instanceKeyOf(set) })))
    return key
  }

  /**
   * Drops every key but the current one. Only for when nothing is sealed with the others any more. Gives the ids that went.
   * @throws KeyFileRefused when `expectedId` is not the current key any more.
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

  /** Whether the file had something new. */
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
