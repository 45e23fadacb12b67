import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Timers } from '../connection.ts'
import { isFinal, StreamError } from '../errors.ts'
import { Queue } from '../queue.ts'
import { Reader } from '../reader.ts'
import type { Followed, Following, Update } from './items.ts'
import type { Subscriber, UserSubscription } from './subscription.ts'

/** Reads the log of updates by REST: the user's with a higher `seq`, in order, as far back as they are stored. */
export type ReadEvents = (userId: string, after: number, signal: AbortSignal) => AsyncIterable<Update>

export interface FollowerOptions {
  readonly userId: string
  /** Null: begin with a snapshot. */
  readonly after: number | null
  readonly waitingMax: number
  readonly readEvents: ReadEvents | undefined
  readonly timers: Timers
}

/** How long a log that could not be read is left. */
const READ_AGAIN_MS = 5_000
/** A refused subscription is asked for again after so long, then twice that, … */
const ASK_AGAIN_MS = 1_000
/** … because the service may just be unable to answer. After so many refusals it means them. */
const REFUSALS_MAX = { resuming: 3, beginning: 5 }

/**
 * One reader of a user: remembers how far its updates reach, so that a new session goes on from there. A reader that falls behind is
 * unsubscribed and goes on from where it is, so what waits is bounded and nothing is lost.
 */
export class Follower extends Reader<Followed> implements Following, Subscriber {
  readonly health = new Map<string, StreamStatus>()
  interruption: string | null = null
  readonly #options: FollowerOptions
  readonly #subscription: UserSubscription
  readonly #leave: () => void
  readonly #queue = new Queue<Followed>()
  readonly #over = new AbortController()
  /** The last `seq` that was put into the queue; null: begin with a snapshot. */
  #seq: number | null
  /** The id of the update with that number, if it is known. */
  #eventId: string | null = null
  /** Why a snapshot is needed again. */
  #lost: string | null = null
  /** The reader was given a `begin`, and has not come back yet. */
  #isBeginning = false
  #isReplaying = false
  #isBehind = false
  #isReading = false
  /** Ends the wait before the next request; null: there is none. */
  #cancelWait: (() => void) | null = null
  /** Of the subscription that is asked for. */
  #refusals = 0
  /** An interruption that is yet to be yielded, … */
  #unread: string | null = null
  /** … and what was yielded last: a reason, or null for `live`. */
  #read: string | null | undefined

  /** @param leave called once, when nothing is wanted any more */
  constructor(options: FollowerOptions, subscription: UserSubscription, leave: () => void) {
    super()
    this.#options = options
    this.#subscription = subscription
    this.#seq = options.after
    this.#leave = leave
  }

  get isLive(): boolean {
    const isWaited = this.#queue.length > 0 || this.#isBeginning || this.#isReplaying
    return this.#subscription.isOnFor(this) && !isWaited
  }

  /** One update is asked for again, because its id shows whether the log is still the same user's. */
  get after(): number | null {
    return this.#seq === null || this.#eventId === null ? this.#seq : this.#seq - 1
  }

  /** Whether no updates are wanted at present. */
  get isWaiting(): boolean {
    return this.#isBehind || this.#isReading || this.#cancelWait !== null
  }

  /** Nothing comes for now; the reader is given the reason, unless it knows it. */
  interrupted(reason: string): void {
    for (const connectionId of this.health.keys()) this.forget(connectionId)
    this.interruption = reason
    this.#unread = reason === this.#read ? null : reason
    this.wake()
  }

  subscribed(seq: number): void {
    this.interruption = null
    this.#refusals = 0
    this.#isReplaying = this.#seq !== null
    if (this.#seq !== null) return
    this.#seq = seq
    this.#put({ type: 'begin', seq, reason: this.#lost })
    this.#lost = null
  }

  /** @throws Error if updates are missing before it, or the log ends before what came */
  caughtUp(seq: number): void {
    if (this.#seq !== null && seq > this.#seq) this.#missing(this.#seq)
    if (this.#seq !== null && seq < this.#seq) this.#createdAgain()
    this.#isReplaying = false
    this.wake()
  }

  /** @throws Error if a number is missing, or belongs to another user */
  update(update: Update): void {
    if (this.#seq === null) return
    if (update.seq === this.#seq && this.#eventId !== null && update.event_id !== this.#eventId) this.#createdAgain()
    if (update.seq <= this.#seq) return
    if (update.seq !== this.#seq + 1) this.#missing(this.#seq)
    this.#seq = update.seq
    this.#eventId = update.event_id
    this.#put(update)
  }

  healthIs(status: StreamStatus): void {
    this.health.set(status.connection_id, status)
    this.#put(status, status.connection_id)
  }

  forget(connectionId: string): void {
    this.health.delete(connectionId)
    this.#queue.delete(connectionId)
  }

  deleted(): void {
    this.#put({ type: 'deleted' })
    this.end()
  }

  /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
  refused(message: string): void {
    this.interruption = message
    // The log may begin with the update that follows.
    this.#eventId = null
    this.#refusals += 1
    const { readEvents } = this.#options
    const isResuming = this.#seq !== null
    if (this.#refusals === 1 && readEvents !== undefined) void this.#catchUp(readEvents, message)
    else if (this.#refusals < (isResuming ? REFUSALS_MAX.resuming : REFUSALS_MAX.beginning)) this.#wait(message)
    else if (isResuming) this.#begin(message)
    else this.end(new StreamError('subscription_refused', message))
  }

  receivedAgain(): void {
    if (this.#read === null) this.#read = undefined
    this.wake()
  }

  protected ended(): void {
    this.#over.abort()
    this.#cancelWait?.()
    this.#leave()
  }

  /** The reader is here. */
  protected take(): Followed | undefined {
    this.#isBeginning = false
    const reason = this.#unread
    // After an end, the error or `deleted` says more.
    if (reason !== null && !this.isEnded) {
      this.#unread = null
      this.#read = reason
      return { type: 'interrupted', reason }
    }
    const item = this.#queue.take()
    if (item !== undefined) {
      this.#isBeginning = item.type === 'begin'
      return item
    }
    if (this.#isBehind) {
      this.#isBehind = false
      this.#subscription.settle()
    }
    if (!this.isLive || this.#read === null) return undefined
    this.#read = null
    return { type: 'live', seq: this.#seq ?? 0 }
  }

  #missing(after: number): never {
    throw new Error(`number ${after + 1} of ${this.#options.userId} is missing`)
  }

  /** The session ends, and the next one begins with a snapshot. */
  #createdAgain(): never {
    const why = `${this.#options.userId} was deleted and created again`
    this.#begin(why)
    throw new Error(why)
  }

  #put(item: Followed, key?: string): void {
    this.#queue.put(item, key)
    this.wake()
    if (this.#queue.length < this.#options.waitingMax || this.isEnded || this.#isBehind) return
    this.#isBehind = true
    this.interrupted(`${this.#queue.length} updates wait for their reader`)
    this.#subscription.settle()
  }

  /** After a while, it is asked for again. */
  #wait(why: string, ms = ASK_AGAIN_MS * 2 ** (this.#refusals - 1)): void {
    this.interrupted(why)
    this.#cancelWait = this.#options.timers.after(ms, () => {
      this.#cancelWait = null
      this.#subscription.settle()
    })
  }

  #begin(why: string): void {
    this.#seq = null
    this.#eventId = null
    this.#refusals = 0
    this.#lost = why
  }

  /** Reads what is stored, then subscribes again. Never rejects. */
  async #catchUp(readEvents: ReadEvents, why: string): Promise<void> {
    this.#isReading = true
    // Where there is no place to go on from, only whether the user exists is of interest.
    const after = this.#seq ?? Number.MAX_SAFE_INTEGER
    let failure: unknown
    let isGone = false
    try {
      for await (const update of readEvents(this.#options.userId, after, this.#over.signal)) {
        if (this.#seq === null || this.isEnded) break
        if (update.seq <= this.#seq) continue
        isGone = update.seq !== this.#seq + 1
        if (isGone) break
        this.#refusals = 0
        this.update(update)
        // The rest is asked for when the reader is here.
        if (this.#isBehind) break
      }
    } catch (error) {
      isGone = Object(error).code === 'events_missing'
      if (!isGone) failure = error ?? new Error(why)
    }
    this.#isReading = false
    if (this.isEnded) return
    if (isFinal(failure)) this.end(failure)
    else if (isGone) this.#begin(why)
    else if (failure !== undefined) {
      this.#refusals = 0
      this.#wait(why, READ_AGAIN_MS)
    } else if (this.#seq === null) this.#wait(why)
    this.#subscription.settle()
  }
}
