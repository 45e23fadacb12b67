import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { StreamConnection } from '../connection.ts'
import { isFinal, StreamError } from '../errors.ts'
import { Queue } from '../queue.ts'
import type { Followed, Update } from './items.ts'

/** Reads the log of updates by REST: the user's with a higher `seq`, in order, as far back as they are stored. */
export type ReadEvents = (userId: string, after: number, signal: AbortSignal) => AsyncIterable<Update>

/** What a follower has asked of the service in the present session. */
type State = 'off' | 'asked' | 'on' | 'leaving'

/** How long a log that could not be read is left. */
const READ_AGAIN_MS = 5_000
/** A refused subscription is asked for again after so long, then twice that, … */
const ASK_AGAIN_MS = 1_000
/** … because the service may just be unable to answer. After so many refusals it means them. */
const REFUSALS_MAX = { resuming: 3, beginning: 5 }

/**
 * One user in the stream: remembers how far its reader's updates reach, so that a new session goes on from there. A reader that falls
 * behind is unsubscribed and goes on from where it is, so what waits is bounded and nothing is lost.
 */
export class Follower {
  readonly queue = new Queue<Followed>()
  readonly #userId: string
  readonly #connection: StreamConnection
  readonly #waitingMax: number
  readonly #readEvents: ReadEvents | undefined
  readonly #over = new AbortController()
  #state: State = 'off'
  /** The last `seq` that was put into the queue; null: begin with a snapshot. */
  #seq: number | null
  /** Why a snapshot is needed again. */
  #lost: string | null = null
  #isBehind = false
  #isReading = false
  /** Of the subscription that is asked for. */
  #refusals = 0

  constructor(userId: string, seq: number | null, connection: StreamConnection, waitingMax: number, readEvents: ReadEvents | undefined) {
    this.#userId = userId
    this.#seq = seq
    this.#connection = connection
    this.#waitingMax = waitingMax
    this.#readEvents = readEvents
  }

  /** What the reader gets; it leaves when the reading ends. */
  async *read(signal: AbortSignal | undefined, leave: () => void): AsyncGenerator<Followed, void, undefined> {
    const left = (): void => {
      this.#over.abort()
      if (this.#state !== 'off') this.#ask('unsubscribe_user')
      leave()
    }
    for await (const item of this.queue.read(signal, left)) {
      yield item
      // What came while the reader read its snapshot is before this in the queue.
      if (item.type === 'begin' && this.#state === 'on') this.#live()
      if (!this.#isBehind || this.queue.length > 0) continue
      this.#isBehind = false
      this.subscribe()
    }
  }

  /** Asks for what follows, unless that is under way or the reader is behind. */
  subscribe(): void {
    if (!this.#connection.isReady || this.#state !== 'off' || this.#isBehind || this.#over.signal.aborted) return
    this.#state = 'asked'
    this.#ask('subscribe_user', this.#seq === null ? {} : { after: this.#seq })
  }

  interrupted(reason: string): void {
    if (this.#state === 'on') this.queue.put({ type: 'interrupted', reason })
    this.#state = 'off'
  }

  subscribed(seq: number): void {
    if (this.#state !== 'asked') return
    this.#state = 'on'
    this.#refusals = 0
    if (this.#seq !== null) return
    this.#seq = seq
    this.queue.put({ type: 'begin', seq, reason: this.#lost })
    this.#lost = null
  }

  caughtUp(): void {
    if (this.#state === 'on') this.#live()
  }

  /** @throws Error if a number is missing, so that the session ends and the next one goes on from what came */
  update(update: Update): void {
    if (this.#state !== 'on' || this.#seq === null || update.seq <= this.#seq) return
    if (update.seq !== this.#seq + 1) throw new Error(`number ${this.#seq + 1} of ${this.#userId} is missing`)
    this.#put(update)
  }

  health(status: StreamStatus): void {
    if (this.#state === 'on') this.queue.put(status)
  }

  unsubscribed(): void {
    if (this.#state === 'leaving') {
      this.#state = 'off'
      this.subscribe()
    } else if (this.#state === 'on') {
      this.queue.put({ type: 'deleted' })
      this.queue.end()
    }
  }

  /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
  refused(message: string): void {
    if (this.#state !== 'asked') return
    this.#state = 'off'
    if (this.#isReading) return
    this.#refusals += 1
    const isResuming = this.#seq !== null
    if (isResuming && this.#refusals === 1 && this.#readEvents !== undefined) void this.#catchUp(this.#readEvents, message)
    else if (this.#refusals < (isResuming ? REFUSALS_MAX.resuming : REFUSALS_MAX.beginning))
      this.#connection.timers.after(ASK_AGAIN_MS * 2 ** (this.#refusals - 1), () => this.subscribe())
    else if (isResuming) this.#begin(message)
    else this.queue.end(new StreamError('subscription_refused', message))
  }

  #ask(action: string, more: object = {}): void {
    this.#connection.send({ action, user_id: this.#userId, ...more })
  }

  #live(): void {
    this.queue.put({ type: 'live', seq: this.#seq ?? 0 })
  }

  #put(update: Update): void {
    this.#seq = update.seq
    this.queue.put(update)
    if (this.queue.length < this.#waitingMax) return
    this.#isBehind = true
    this.queue.put({ type: 'interrupted', reason: `${this.queue.length} updates wait for their reader` })
    if (this.#state === 'off') return
    this.#state = 'leaving'
    this.#ask('unsubscribe_user')
  }

  #begin(why: string): void {
    this.#seq = null
    this.#refusals = 0
    this.#lost = why
    this.subscribe()
  }

  /** Reads what is stored, then subscribes again. Never rejects. */
  async #catchUp(readEvents: ReadEvents, why: string): Promise<void> {
    this.#isReading = true
    const { signal } = this.#over
    let isGone = false
    try {
      for await (const update of readEvents(this.#userId, this.#seq ?? 0, signal)) {
        // A new session may have brought some of them meanwhile.
        if (this.#seq === null || update.seq <= this.#seq) continue
        isGone = update.seq !== this.#seq + 1
        // The rest is asked for when the reader is here.
        if (isGone || this.#isBehind || signal.aborted) break
        this.#put(update)
      }
    } catch (error) {
      isGone = Object(error).code === 'events_missing'
      if (!isGone) await this.#failedToRead(error)
    }
    this.#isReading = false
    if (this.#state !== 'off') return
    if (isGone) this.#begin(why)
    else this.subscribe()
  }

  async #failedToRead(error: unknown): Promise<void> {
    if (isFinal(error)) this.queue.end(error)
    this.#refusals = 0
    await new Promise<void>(resolve => this.#connection.timers.after(READ_AGAIN_MS, resolve))
  }
}
