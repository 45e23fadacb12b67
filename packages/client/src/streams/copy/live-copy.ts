import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Balance, Order, Position } from '../../generated/openapi.ts'
import type { Followed, Following, Update } from '../broker/items.ts'
import type { BrokerStream } from '../broker/stream.ts'
import { isRetrySafe, StreamError } from '../errors.ts'
import { digestOf, Records, type Snapshot } from './records.ts'

/** A copy as it is stored: the records, and the `seq` up to which they are complete. Both belong in one transaction. */
export interface StoredCopy extends Snapshot {
  readonly seq: number
}

/** What changed in the copy: everything (`begin`), or what an update brought. */
export type CopyChange = { readonly type: 'begin'; readonly seq: number; readonly snapshot: Snapshot } | Update

export interface LiveCopyOptions {
  readonly stream: BrokerStream
  readonly userId: string
  /** Reads all orders, positions and balances of the user by REST. Called at the beginning, and whenever updates could not be had. */
  readonly readSnapshot: (signal: AbortSignal) => Promise<Snapshot>
  /**
   * The newest `seq` of the user's log, by REST. {@link LiveCopy.verify} needs it; and with it the copy is not `live` before it has
   * reached every update that its snapshot may contain already. Without it, records may go back for a moment after that.
   */
  readonly readLastSeq?: (signal: AbortSignal) => Promise<number>
  /** What was stored last, or null. */
  readonly load?: () => Promise<StoredCopy | null>
  /** Stores a change and its `seq` in one transaction. The next change waits for it. */
  readonly save?: (change: CopyChange, copy: LiveCopy) => Promise<void>
}

export type Verified =
  | { readonly isEqual: true; readonly seq: number; readonly digest: string }
  | { readonly isEqual: false; readonly seq: number; readonly digest: string; readonly expected: string }

const VERIFY_TRIES = 10
const NOT_KEPT = 'the copy is not kept any more'
const NO_HEALTH: ReadonlyMap<string, StreamStatus> = new Map()

/** An exact copy of a user's orders, positions and balances, kept up to date while {@link LiveCopy.run} runs. */
export class LiveCopy {
  readonly #options: LiveCopyOptions
  readonly #waiting = new Set<(error?: unknown) => void>()
  #records = new Records()
  #seq: number | null = null
  #isRunning = false
  /** It ran, and does not any more. */
  #isOver = false
  /** While it runs. */
  #following: Following | null = null
  /** The snapshot may contain updates up to this one; until then, records may be older than it. */
  #snapshotSeq = 0
  /** Why the snapshot could not be read, while it is to be read again. */
  #unread: string | null = null
  /** What was put while a snapshot is read; it may be newer. */
  #put: Order[] | null = null

  constructor(options: LiveCopyOptions) {
    this.#options = options
  }

  /** By `order_id`. */
  get orders(): ReadonlyMap<string, Order> {
    return this.#records.orders
  }

  get positions(): readonly Position[] {
    return [...this.#records.positions.values()]
  }

  get balances(): readonly Balance[] {
    return [...this.#records.balances.values()]
  }

  /** How each connection follows its broker, by `connection_id`: a copy is only as current as that. Empty while it is not known. */
  get health(): ReadonlyMap<string, StreamStatus> {
    return this.#following?.health ?? NO_HEALTH
  }

  /** The copy is complete up to this update; null before its beginning. */
  get seq(): number | null {
    return this.#seq
  }

  /** Whether it has everything that the service has sent, and updates arrive as they happen. */
  get isLive(): boolean {
    return this.#following?.isLive === true && this.#seq !== null && this.#seq >= this.#snapshotSeq
  }

  /**
   * Why no updates arrive: no connection, wrong credentials, no such user, or a snapshot that could not be read yet.
   * Null while they do, and before it was tried.
   */
  get interruption(): string | null {
    return this.#unread ?? this.#following?.interruption ?? null
  }

  /** Milliseconds since the service was last received; null before that. */
  get ageMs(): number | null {
    return this.#options.stream.ageMs
  }

  /**
   * Keeps the copy until the signal aborts or the user is deleted or disabled (`deleted`), and yields each change after it was saved.
   * A snapshot that cannot be read now is read again after the stream's own waits, as long as the error is `retrySafe`.
   * @throws StreamError, what `load` and `save` throw, and other errors of `readSnapshot`, `readLastSeq` and the stream's `readEvents`
   */
  run(signal: AbortSignal): AsyncGenerator<CopyChange, 'stopped' | 'deleted', undefined> {
    const over = new AbortController()
    const changes = this.#run(AbortSignal.any([signal, over.signal]))
    const end = changes.return.bind(changes)
    return Object.assign(changes, {
      // Otherwise it would wait for the next change.
      return(value: Parameters<typeof end>[0]) {
        over.abort()
        return end(value)
      }
    })
  }

  async *#run(signal: AbortSignal): AsyncGenerator<CopyChange, 'stopped' | 'deleted', undefined> {
    const { stream, userId, load, save } = this.#options
    if (this.#isRunning) throw new StreamError('followed_already', 'this copy is kept already')
    this.#isRunning = true
    this.#isOver = false
    try {
      const stored = (await load?.()) ?? null
      if (stored !== null) this.#replace(new Records(stored), stored.seq, stored.seq)
      this.#following = stream.follow(userId, { signal, ...(stored !== null && { after: stored.seq }) })
      for await (const item of this.#following) {
        if (item.type === 'deleted') return 'deleted'
        const change = await this.#take(item, signal)
        if (change === null) continue
        await save?.(change, this)
        yield change
      }
      return 'stopped'
    } finally {
      this.#isRunning = false
      this.#isOver = true
      this.#following = null
      this.#notify(new Error(NOT_KEPT))
    }
  }

  /** An answer to a request of your own may be newer than the last update. */
  putOrder(order: Order): void {
    this.#records.putOrder(order)
    this.#put?.push(order)
  }

  /** Removes the records of a connection that was deleted; no update does. */
  forget(connectionId: string): void {
    this.#records.forget(connectionId)
    this.#following?.forget(connectionId)
  }

  /**
   * Resolves when it is live, also if that takes for ever.
   * @throws Error when {@link LiveCopy.run} ends before, or has ended, and the reason of the signal
   */
  async live(signal?: AbortSignal): Promise<void> {
    while (!this.isLive) await this.#changed(signal)
  }

  /** SHA-256 over all records; {@link digestOf} of a snapshot that holds the same is equal. */
  digest(): Promise<string> {
    return digestOf(this.#records.toSnapshot())
  }

  /**
   * Compares the copy with what REST returns, at a moment in which both have the same `seq`.
   * @throws Error if there is no such moment in ten tries, because something changes all the time; or if the copy is not kept
   */
  async verify(signal: AbortSignal): Promise<Verified> {
    const { readSnapshot, readLastSeq } = this.#options
    if (readLastSeq === undefined || !this.#isRunning) throw new Error('verify needs readLastSeq, and a copy that is kept')
    let different = ''
    for (let tries = 0; tries < VERIFY_TRIES; tries += 1) {
      const before = await readLastSeq(signal)
      const snapshot = await readSnapshot(signal)
      const seq = await readLastSeq(signal)
      while (this.#seq === null || this.#seq < seq) await this.#changed(signal)
      // Of an update in between, the snapshot may have nothing, so that it would equal a copy that has missed it.
      if (before !== seq || this.#seq !== seq) continue
      const [digest, expected] = await Promise.all([this.digest(), digestOf(snapshot)])
      if (digest === expected) return { isEqual: true, seq, digest }
      // Records change a moment before their update has a number: only a difference that stays counts.
      const found = `${seq} ${digest} ${expected}`
      if (found === different) return { isEqual: false, seq, digest, expected }
      different = found
    }
    throw new Error(`the records changed during each of ${VERIFY_TRIES} comparisons`)
  }

  async #take(item: Exclude<Followed, { readonly type: 'deleted' }>, signal: AbortSignal): Promise<CopyChange | null> {
    switch (item.type) {
      case 'begin':
        return this.#begin(item.seq, signal)
      case 'live':
      case 'interrupted':
      case 'stream_status':
        this.#notify()
        return null
      default:
        this.#records.apply(item)
        this.#seq = item.seq
        this.#notify()
        return item
    }
  }

  /** Null: aborted meanwhile. What updates come while it is tried again waits in the stream, up to its bound. */
  async #begin(seq: number, signal: AbortSignal): Promise<CopyChange | null> {
    this.#put = []
    try {
      for (let failures = 0; !signal.aborted; failures += 1) {
        try {
          return await this.#read(seq, this.#put, signal)
        } catch (error) {
          if (signal.aborted) return null
          if (!isRetrySafe(error)) throw error
          this.#unread = `the records cannot be read: ${error.message}`
          await this.#pause(failures, signal)
        }
      }
      return null
    } finally {
      this.#put = null
      this.#unread = null
    }
  }

  /** As long as the stream waits after so many failures, or until the signal aborts. */
  #pause(failures: number, signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = this.#options.stream.later(failures, done)
      signal.addEventListener('abort', done)
    })
  }

  async #read(seq: number, put: readonly Order[], signal: AbortSignal): Promise<CopyChange> {
    const { readSnapshot, readLastSeq } = this.#options
    const snapshot = await readSnapshot(signal)
    const snapshotSeq = (await readLastSeq?.(signal)) ?? seq
    const records = new Records(snapshot)
    for (const order of put) records.putOrder(order)
    this.#replace(records, seq, snapshotSeq)
    return { type: 'begin', seq, snapshot }
  }

  #replace(records: Records, seq: number, snapshotSeq: number): void {
    this.#records = records
    this.#seq = seq
    this.#snapshotSeq = snapshotSeq
    this.#notify()
  }

  /** @throws Error when it is not kept any more, and the reason of the signal */
  #changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown): void => {
        this.#waiting.delete(settle)
        signal?.removeEventListener('abort', abort)
        if (error === undefined) resolve()
        else reject(error)
      }
      const abort = (): void => settle(signal?.reason)
      this.#waiting.add(settle)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
      else if (this.#isOver) settle(new Error(NOT_KEPT))
    })
  }

  #notify(error?: Error): void {
    for (const settle of [...this.#waiting]) settle(error)
  }
}
