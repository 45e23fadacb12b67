/** A market feed by mode `fixed stream`, for topics that have a stream each: as many at once as the broker allows. */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { PendingTasks } from '../flush-scheduler.ts'
import type { Wire } from '../parse.ts'
import type { RateLimiter } from '../rate-limiter.ts'
import { Subscription } from '../subscription.ts'
import { FixedStream, type FixedStreamOptions } from './fixed-stream.ts'

/** How a topic is streamed. */
export interface TopicStream {
  readonly path: string
  /** Streams of the kind that may be open at once; null where the broker names no bound. */
  readonly openMax: number | null
  /** Equal for topics that share the bound. */
  readonly kind: string
  readonly opens: RateLimiter
  /** Creates the line reader of one connection, which hands the content of each line to the sink. @throws Malformed */
  reader(sink: TopicSink): (wire: Wire) => void
}

export interface FixedTopicOptions extends FixedStreamOptions {
  /** For messages. */
  readonly broker: string
}

interface Followed {
  readonly subscription: Subscription
  readonly how: TopicStream
  connection: FixedStream | null
}

export class FixedTopicFeed implements AsyncDisposable {
  readonly #options: FixedTopicOptions
  readonly #followed = new Set<Followed>()
  readonly #closing = new PendingTasks()
  #isClosed = false

  constructor(options: FixedTopicOptions) {
    this.#options = options
  }

  /** Streams of a kind that are open. */
  openOf(kind: string): number {
    return [...this.#followed].filter(({ connection, how }) => connection !== null && how.kind === kind).length
  }

  stream(topic: Topic, sink: TopicSink, how: TopicStream): TopicLease {
    const followed: Followed = { subscription: new Subscription(topic, sink), how, connection: null }
    const { schedule = setImmediate } = this.#options
    this.#followed.add(followed)
    schedule(() => this.#begin(followed))
    return {
      renew: () => {
        if (!this.#followed.has(followed)) return
        followed.subscription.lost('silence', 'nothing was received for too long, so it was requested again')
        this.#close(followed)
        this.#begin(followed)
      },
      [Symbol.dispose]: () => this.#end(followed)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const followed of this.#followed) this.#end(followed)
    await this.#closing.over()
  }

  #begin(followed: Followed): void {
    const { subscription, how } = followed
    if (this.#isClosed || !this.#followed.has(followed) || followed.connection !== null) return
    if (how.openMax !== null && this.openOf(how.kind) >= how.openMax) {
      this.#refused(
        followed,
        `${this.#options.broker} streams at most ${how.openMax} ${subscription.topic.channel} at once; let another one go first.`
      )
      return
    }
    let read = how.reader(subscription.sink)
    followed.connection = new FixedStream(
      how.path,
      {
        record: wire => {
          subscription.live()
          read(wire)
        },
        heartbeat: () => subscription.live(),
        lost: (cause: GapCause, reason: string) => {
          read = how.reader(subscription.sink)
          subscription.lost(cause, reason)
        },
        refused: message => this.#refused(followed, message)
      },
      how.opens,
      this.#options
    )
  }

  #refused(followed: Followed, message: string): void {
    this.#followed.delete(followed)
    this.#close(followed)
    followed.subscription.refused(message)
  }

  #end(followed: Followed): void {
    followed.subscription.end()
    this.#followed.delete(followed)
    this.#close(followed)
  }

  #close(followed: Followed): void {
    const { connection } = followed
    followed.connection = null
    if (connection !== null) this.#closing.add(connection[Symbol.asyncDispose]())
  }
}
