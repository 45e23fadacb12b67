import { type ConnectionOptions, type Incoming, StreamConnection } from '../connection.ts'
import { StreamError } from '../errors.ts'
import { Follower, type ReadEvents } from './follower.ts'
import type { Followed } from './items.ts'
import { isHealth, isUpdate } from './parse.ts'

/** `url`: the broker update stream, such as `wss://trunkline.example.com/stream`. */
export interface BrokerStreamOptions extends ConnectionOptions {
  readonly clientId: string
  readonly clientSecret: string
  /** Without it, an absence of more than 10,000 updates needs a new snapshot. */
  readonly readEvents?: ReadEvents
  /** Items that may wait for a reader, 10,000 by default. One that is slower is sent what it missed when it comes back. */
  readonly waitingMax?: number
}

export interface FollowOptions {
  /** The `seq` of the last update that you have. Left out: begin with a snapshot. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** What one session may have. */
const USERS_MAX = 500
const WAITING_MAX = 10_000

/** Updates of many users over one connection, which is open while somebody follows. */
export class BrokerStream {
  readonly #options: BrokerStreamOptions
  readonly #connection: StreamConnection
  readonly #followers = new Map<string, Follower>()

  constructor(options: BrokerStreamOptions) {
    this.#options = options
    this.#connection = new StreamConnection(options, {
      opened: () => undefined,
      received: message => this.#received(message),
      ended: reason => {
        for (const follower of this.#followers.values()) follower.interrupted(reason)
      },
      failed: error => {
        for (const { queue } of this.#followers.values()) queue.end(error)
      },
      ping: () => ({ action: 'ping' })
    })
  }

  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs(): number | null {
    return this.#connection.ageMs
  }

  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or the signal aborts.
   * @throws StreamError
   */
  follow(userId: string, { after, signal }: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    const followers = this.#followers
    if (followers.has(userId)) throw new StreamError('subscription_refused', `${userId} is followed already`)
    if (followers.size >= USERS_MAX) throw new StreamError('too_many', `one stream follows at most ${USERS_MAX} users`)
    const { waitingMax = WAITING_MAX, readEvents } = this.#options
    const follower = new Follower(userId, after ?? null, this.#connection, waitingMax, readEvents)
    followers.set(userId, follower)
    this.#connection.start()
    follower.subscribe()
    return follower.read(signal, () => {
      followers.delete(userId)
      if (followers.size === 0) this.#connection.stop()
    })
  }

  #received(message: Incoming): void {
    const { clientId, clientSecret } = this.#options
    switch (message.type) {
      case 'welcome':
        this.#connection.send({ action: 'authenticate', client_id: clientId, client_secret: clientSecret, extensions: ['stream_status'] })
        break
      case 'auth_error':
        this.#connection.refused(String(message.message))
        break
      case 'auth_success':
        this.#connection.ready()
        // With all topics, `seq` has no gap, so a missing update is noticed.
        this.#connection.send({ action: 'subscribe', topics: ['all'] })
        for (const follower of this.#followers.values()) follower.subscribe()
        break
      default: {
        const follower = typeof message.user_id === 'string' ? this.#followers.get(message.user_id) : undefined
        if (follower !== undefined) receivedBy(follower, message)
      }
    }
  }
}

function receivedBy(follower: Follower, message: Incoming): void {
  if (isUpdate(message)) follower.update(message)
  else if (isHealth(message)) follower.health(message)
  else if (message.type === 'user_subscribed') follower.subscribed(Number(message.seq))
  else if (message.type === 'caught_up') follower.caughtUp()
  else if (message.type === 'subscription_failed') follower.refused(String(message.message))
  else if (message.type === 'user_unsubscribed') follower.unsubscribed()
}
