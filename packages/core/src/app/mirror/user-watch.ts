import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { backoffMs } from '../backoff.ts'
import type { Deps } from '../deps.ts'
import type { Mirrors } from './mirrors.ts'

/** Users whose connections are read concurrently. */
const READS_MAX = 16
const STORE_RETRY = { firstMs: 250, longestMs: 10_000 }
const NONE: readonly ConnectionId[] = []

/** A watched user. Kept small, because there are many and most have few connections. */
interface Watched {
  holders: number
  /** The connections held for it. */
  held: readonly ConnectionId[]
  isReading: boolean
  /** Whether something changed while its connections were being read. */
  isOutdated: boolean
}

/** Mirrors every active connection of users with listeners, including new ones. */
export class UserWatch {
  readonly #deps: Pick<Deps, 'store' | 'clock' | 'log' | 'ids'>
  readonly #mirrors: Pick<Mirrors, 'hold' | 'release'>
  readonly #users = new Map<UserKey, Watched>()
  /** Users whose connections are to be read, in order of request. */
  readonly #queue = new Set<UserKey>()
  readonly #reading = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  #pausing: Promise<void> | null = null
  #failures = 0

  constructor(deps: Pick<Deps, 'store' | 'bus' | 'clock' | 'log' | 'ids'>, mirrors: Pick<Mirrors, 'hold' | 'release'>) {
    this.#deps = deps
    this.#mirrors = mirrors
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        const { type } = message
        if (type === 'connection_changed' || type === 'connection_removed' || type === 'user_removed') this.#changed(message.userKey)
      },
      ['connection_changed', 'connection_removed', 'user_removed']
    )
  }

  /** The number of watched users. */
  get count(): number {
    return this.#users.size
  }

  /** Mirrors the user's connections until every hold is released. */
  hold(userKey: UserKey): void {
    if (this.#stopping.signal.aborted) return
    const known = this.#users.get(userKey)
    if (known !== undefined) {
      known.holders += 1
      return
    }
    this.#users.set(userKey, { holders: 1, held: NONE, isReading: false, isOutdated: false })
    this.#enqueue(userKey)
  }

  release(userKey: UserKey): void {
    const watched = this.#users.get(userKey)
    if (watched === undefined) return
    watched.holders -= 1
    if (watched.holders > 0) return
    this.#users.delete(userKey)
    this.#queue.delete(userKey)
    for (const connectionId of watched.held) this.#mirrors.release(connectionId)
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    this.#queue.clear()
    await Promise.all([...this.#reading, this.#pausing])
    for (const { held } of this.#users.values()) for (const connectionId of held) this.#mirrors.release(connectionId)
    this.#users.clear()
  }

  #changed(userKey: UserKey): void {
    const watched = this.#users.get(userKey)
    if (watched === undefined) return
    if (watched.isReading) watched.isOutdated = true
    else this.#enqueue(userKey)
  }

  #enqueue(userKey: UserKey): void {
    this.#queue.add(userKey)
    this.#startReads()
  }

  #startReads(): void {
    if (this.#pausing !== null || this.#stopping.signal.aborted) return
    for (const userKey of this.#queue) {
      if (this.#reading.size >= READS_MAX) return
      this.#queue.delete(userKey)
      const watched = this.#users.get(userKey)
      if (watched === undefined) continue
      const reading: Promise<void> = this.#read(userKey, watched).finally(() => {
        this.#reading.delete(reading)
        this.#startReads()
      })
      this.#reading.add(reading)
    }
  }

  /** Never rejects: a store that does not answer is tried again. */
  async #read(userKey: UserKey, watched: Watched): Promise<void> {
    watched.isReading = true
    watched.isOutdated = false
    try {
      const connections = await this.#deps.store.connections.listByUser(userKey, 'ACTIVE')
      this.#failures = 0
      if (this.#users.get(userKey) !== watched || this.#stopping.signal.aborted) return
      const held = connections.map(({ connectionId }) => connectionId)
      for (const connection of connections) if (!watched.held.includes(connection.connectionId)) this.#mirrors.hold(connection)
      for (const connectionId of watched.held) if (!held.includes(connectionId)) this.#mirrors.release(connectionId)
      watched.held = held.length === 0 ? NONE : held
    } catch (cause) {
      this.#deps.log.warn('a watched user’s connections could not be read; trying again', { userKey, cause })
      watched.isOutdated = true
      this.#pausing ??= this.#pause()
    } finally {
      watched.isReading = false
      if (watched.isOutdated && this.#users.get(userKey) === watched) this.#queue.add(userKey)
    }
  }

  async #pause(): Promise<void> {
    this.#failures += 1
    const pauseMs = backoffMs(STORE_RETRY, this.#failures, this.#deps.ids.fraction())
    await this.#deps.clock.sleep(pauseMs, this.#stopping.signal).catch(() => undefined)
    this.#pausing = null
    this.#startReads()
  }
}
