import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Balance, Order, Position } from '../../generated/openapi.ts'
import type { Followed, Update } from '../broker/items.ts'
import type { BrokerStream } from '../broker/stream.ts'
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
  /** The newest `seq` of the user's log, by REST. Needed by {@link LiveCopy.verify} only. */
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

/** An exact copy of a user's orders, positions and balances, kept up to date while {@link LiveCopy.run} runs. */
export class LiveCopy {
  readonly #options: LiveCopyOptions
  readonly #waiting = new Set<() => void>()
  #records = new Records()
  #health = new Map<string, StreamStatus>()
  #seq: number | null = null
  #isLive = false

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

  /** How each connection follows its broker, by `connection_id`: a copy is only as current as that. */
  get health(): ReadonlyMap<string, StreamStatus> {
    return this.#health
  }

  /** The copy is complete up to this update; null before its beginning. */
  get seq(): number | null {
    return this.#seq
  }

  /** Whether updates arrive as they happen. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Milliseconds since the service was last received; null before that. */
  get ageMs(): number | null {
    return this.#options.stream.ageMs
  }

  /**
   * Keeps the copy until the signal aborts or the user is deleted, and yields each change after it was saved.
   * @throws StreamError, and what `load`, `save` and `readSnapshot` throw
   */
  async *run(signal: AbortSignal): AsyncGenerator<CopyChange, 'stopped' | 'deleted', undefined> {
    const { stream, userId, load } = this.#options
    const stored = (await load?.()) ?? null
    if (stored !== null) this.#replace(new Records(stored), stored.seq)
    try {
      for await (const item of stream.follow(userId, { signal, ...(stored !== null && { after: stored.seq }) })) {
        if (item.type === 'deleted') return 'deleted'
        const change = await this.#take(item, signal)
        if (change === null) continue
        await this.#options.save?.(change, this)
        yield change
      }
      return 'stopped'
    } finally {
      this.#setLive(false)
    }
  }

  /** An answer to a request of your own may be newer than the last update. */
  putOrder(order: Order): void {
    this.#records.putOrder(order)
  }

  /** Removes the records of a connection that was deleted; no update does. */
  forget(connectionId: string): void {
    this.#records.forget(connectionId)
    this.#health.delete(connectionId)
  }

  /** Resolves when it is live; never, if it does not become so. */
  async live(): Promise<void> {
    while (!this.#isLive) await this.#changed()
  }

  /** SHA-256 over all records; {@link digestOf} of a snapshot that holds the same is equal. */
  digest(): Promise<string> {
    return digestOf(this.#records.toSnapshot())
  }

  /**
   * Compares the copy with what REST returns, at a moment in which both have the same `seq`.
   * @throws Error if there is no such moment in ten tries, because something changes all the time
   */
  async verify(signal: AbortSignal): Promise<Verified> {
    const { readSnapshot, readLastSeq } = this.#options
    if (readLastSeq === undefined) throw new Error('verify needs readLastSeq')
    for (let tries = 0; tries < VERIFY_TRIES; tries += 1) {
      const snapshot = await readSnapshot(signal)
      const seq = await readLastSeq(signal)
      while (this.#seq !== null && this.#seq < seq) {
        signal.throwIfAborted()
        await this.#changed(signal)
      }
      const held = this.#records.toSnapshot()
      const [isStill, digest, expected] = [this.#seq === seq, await digestOf(held), await digestOf(snapshot)]
      if (isStill && digest === expected) return { isEqual: true, seq, digest }
      // The snapshot may be older than the last update: only a difference that nothing changed meanwhile counts.
      if (isStill && (await this.#isUnchanged(seq, expected, signal))) return { isEqual: false, seq, digest, expected }
    }
    throw new Error(`the records changed during each of ${VERIFY_TRIES} comparisons`)
  }

  async #isUnchanged(seq: number, expected: string, signal: AbortSignal): Promise<boolean> {
    const { readSnapshot, readLastSeq } = this.#options
    const again = await digestOf(await readSnapshot(signal))
    return again === expected && (await readLastSeq?.(signal)) === seq && this.#seq === seq
  }

  async #take(item: Exclude<Followed, { readonly type: 'deleted' }>, signal: AbortSignal): Promise<CopyChange | null> {
    switch (item.type) {
      case 'begin': {
        const snapshot = await this.#options.readSnapshot(signal)
        this.#replace(new Records(snapshot), item.seq)
        return { type: 'begin', seq: item.seq, snapshot }
      }
      case 'live':
        this.#setLive(true)
        return null
      case 'interrupted':
        this.#setLive(false)
        return null
      case 'stream_status':
        this.#health.set(item.connection_id, item)
        return null
      default:
        this.#records.apply(item)
        this.#seq = item.seq
        this.#notify()
        return item
    }
  }

  #replace(records: Records, seq: number): void {
    this.#records = records
    this.#seq = seq
    this.#notify()
  }

  #setLive(isLive: boolean): void {
    this.#isLive = isLive
    this.#notify()
  }

  #changed(signal?: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  #notify(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
