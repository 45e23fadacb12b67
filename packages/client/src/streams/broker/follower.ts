import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Timers } from '../connection.ts'
import { isFinal, StreamError } from '../errors.ts'
import { queueOf } from '../queue.ts'
import { type Reader, readerOf } from '../reader.ts'
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

/** One reader of a user. */
export interface Follower extends Reader<Followed>, Following, Subscriber {
  readonly isLive: boolean
}

/**
 * Remembers how far the updates of a reader reach, so that a new session goes on from there. A reader that falls behind is unsubscribed and
 * goes on from where it is, so what waits is bounded and nothing is lost.
 * @param left called once, when nothing is wanted any more
 */
export function followerOf(options: FollowerOptions, subscription: UserSubscription, left: () => void): Follower {
  const { userId, waitingMax, readEvents, timers } = options
  const queue = queueOf<Followed>()
  const over = new AbortController()
  const health = new Map<string, StreamStatus>()
  let interruption: string | null = null
  /** The last `seq` that was put into the queue; null: begin with a snapshot. */
  let last = options.after
  /** The id of the update with that number, if it is known. */
  let eventId: string | null = null
  /** Why a snapshot is needed again. */
  let lost: string | null = null
  /** The reader was given a `begin`, and has not come back yet. */
  let isBeginning = false
  let isReplaying = false
  let isBehind = false
  let isReading = false
  /** Ends the wait before the next request; null: there is none. */
  let cancelWait: (() => void) | null = null
  /** Of the subscription that is asked for. */
  let refusals = 0
  /** An interruption that is yet to be yielded, … */
  let unread: string | null = null
  /** … and what was yielded last: a reason, or null for `live`. */
  let read: string | null | undefined

  const reader = readerOf(take, () => {
    over.abort()
    cancelWait?.()
    left()
  })
  const { isEnded, wake, end } = reader
  const isLive = () => subscription.isOnFor(follower) && !(queue.length() || isBeginning || isReplaying)

  /** The reader is here. */
  function take(): Followed | undefined {
    isBeginning = false
    const reason = unread
    // After an end, the error or `deleted` says more.
    if (reason !== null && !isEnded()) {
      unread = null
      read = reason
      return { type: 'interrupted', reason }
    }
    const item = queue.take()
    if (item !== undefined) {
      isBeginning = item.type === 'begin'
      return item
    }
    if (isBehind) {
      isBehind = false
      subscription.settle()
    }
    if (!isLive() || read === null) return undefined
    read = null
    return { type: 'live', seq: last ?? 0 }
  }

  /** Nothing comes for now; the reader is given the reason, unless it knows it. */
  function interrupted(reason: string): void {
    for (const connectionId of health.keys()) forget(connectionId)
    interruption = reason
    unread = reason === read ? null : reason
    wake()
  }

  function forget(connectionId: string): void {
    health.delete(connectionId)
    queue.delete(connectionId)
  }

  function missing(after: number): never {
    throw new Error(`number ${after + 1} of ${userId} is missing`)
  }

  /** The session ends, and the next one begins with a snapshot. */
  function createdAgain(): never {
    const why = `${userId} was deleted and created again`
    begin(why)
    throw new Error(why)
  }

  function put(item: Followed, key?: string): void {
    queue.put(item, key)
    wake()
    if (queue.length() < waitingMax || isEnded() || isBehind) return
    isBehind = true
    interrupted(`${queue.length()} updates wait for their reader`)
    subscription.settle()
  }

  /** @throws Error if a number is missing, or belongs to another user */
  function update(item: Update): void {
    const { seq, event_id: id } = item
    if (last === null) return
    if (seq === last && eventId !== null && id !== eventId) createdAgain()
    if (seq <= last) return
    if (seq !== last + 1) missing(last)
    last = seq
    eventId = id
    put(item)
  }

  /** After a while, it is asked for again. */
  function wait(why: string, ms = ASK_AGAIN_MS * 2 ** (refusals - 1)): void {
    interrupted(why)
    cancelWait = timers.after(ms, () => {
      cancelWait = null
      subscription.settle()
    })
  }

  function begin(why: string): void {
    last = null
    eventId = null
    refusals = 0
    lost = why
  }

  /** Reads what is stored, then subscribes again. Never rejects. */
  async function catchUp(readLog: ReadEvents, why: string): Promise<void> {
    isReading = true
    // Where there is no place to go on from, only whether the user exists is of interest.
    const after = last ?? Number.MAX_SAFE_INTEGER
    let failure: unknown
    let isGone = false
    try {
      for await (const item of readLog(userId, after, over.signal)) {
        if (last === null || isEnded()) break
        if (item.seq <= last) continue
        isGone = item.seq !== last + 1
        if (isGone) break
        refusals = 0
        update(item)
        // The rest is asked for when the reader is here.
        if (isBehind) break
      }
    } catch (error) {
      isGone = Object(error).code === 'events_missing'
      if (!isGone) failure = error ?? new Error(why)
    }
    isReading = false
    if (isEnded()) return
    if (isFinal(failure)) end(failure)
    else if (isGone) begin(why)
    else if (failure !== undefined) {
      refusals = 0
      wait(why, READ_AGAIN_MS)
    } else if (last === null) wait(why)
    subscription.settle()
  }

  const follower: Follower = {
    ...reader,
    health,
    forget,
    interrupted,
    update,
    get interruption() {
      return interruption
    },
    get isLive() {
      return isLive()
    },
    /** One update is asked for again, because its id shows whether the log is still the same user's. */
    after: () => (last === null || eventId === null ? last : last - 1),
    isWaiting: () => isBehind || isReading || cancelWait !== null,
    subscribed(seq) {
      interruption = null
      refusals = 0
      isReplaying = last !== null
      if (last !== null) return
      last = seq
      put({ type: 'begin', seq, reason: lost })
      lost = null
    },
    /** @throws Error if updates are missing before it, or the log ends before what came */
    caughtUp(seq) {
      if (last !== null && seq > last) missing(last)
      if (last !== null && seq < last) createdAgain()
      isReplaying = false
      wake()
    },
    healthIs(status) {
      health.set(status.connection_id, status)
      put(status, status.connection_id)
    },
    deleted() {
      put({ type: 'deleted' })
      end()
    },
    /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
    refused(message) {
      interruption = message
      // The log may begin with the update that follows.
      eventId = null
      refusals += 1
      const isResuming = last !== null
      if (refusals === 1 && readEvents !== undefined) void catchUp(readEvents, message)
      else if (refusals < (isResuming ? REFUSALS_MAX.resuming : REFUSALS_MAX.beginning)) wait(message)
      else if (isResuming) begin(message)
      else end(new StreamError('subscription_refused', message))
    },
    receivedAgain() {
      if (read === null) read = undefined
      wake()
    }
  }
  return follower
}
