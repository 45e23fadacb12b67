import { type ConnectionOptions, type Incoming, StreamConnection } from '../connection.ts'
import { StreamError } from '../errors.ts'
import { Follower, type ReadEvents } from './follower.ts'
import type { Following } from './items.ts'
import { UserSubscription } from './subscription.ts'

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
  readonly #users = new Map<string, UserSubscription>()
  #followed = 0

  constructor(options: BrokerStreamOptions) {
    this.#options = options
    this.#connection = new StreamConnection(options, {
      opened: () => undefined,
      received: (message, wasSilent) => {
        this.#received(message)
        if (wasSilent) for (const { follower } of this.#users.values()) follower?.receivedAgain()
      },
      ended: reason => {
        for (const [userId, user] of this.#users) {
          user.interrupted(reason)
          this.#forget(userId, user)
        }
      },
      failed: error => {
        for (const { follower } of [...this.#users.values()]) follower?.end(error)
      },
      ping: () => ({ action: 'ping' }),
      secret: () => options.clientSecret
    })
  }

  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs(): number | null {
    return this.#connection.ageMs
  }

  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or disabled, or
   * the signal aborts.
   * @throws StreamError, at once or from the iteration; and the error of `readEvents` that no repetition avoids, such as an unknown user
   */
  follow(userId: string, { after, signal }: FollowOptions = {}): Following {
    const user = this.#users.get(userId) ?? new UserSubscription(userId, this.#connection)
    if (user.follower !== null) throw new StreamError('followed_already', `${userId} is followed already`)
    if (this.#followed >= USERS_MAX) throw new StreamError('too_many', `one stream follows at most ${USERS_MAX} users`)
    const { waitingMax = WAITING_MAX, readEvents } = this.#options
    // The service refuses the first two without naming the user, so that its answer would be awaited in vain.
    if (
      !/^(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,64}(?<!\s)$/u.test(userId) ||
      !Number.isSafeInteger(after ?? 0) ||
      Number(after) < 0 ||
      !(waitingMax > 0)
    )
      throw new StreamError('setting_invalid', 'no user_id, no seq, or no waitingMax')
    const { timers } = this.#connection
    const options = { userId, after: after ?? null, waitingMax, readEvents, timers }
    const follower = new Follower(options, user, () => this.#left(userId, user))
    user.follower = follower
    this.#users.set(userId, user)
    this.#followed += 1
    follower.stopWith(signal)
    if (follower.isEnded) return follower
    this.#connection.start()
    user.settle()
    return follower
  }

  #left(userId: string, user: UserSubscription): void {
    user.follower = null
    this.#followed -= 1
    user.settle()
    this.#forget(userId, user)
    if (this.#followed > 0) return
    this.#users.clear()
    this.#connection.stop()
  }

  /** Until the service has answered that a user is unsubscribed, the answer is waited for. */
  #forget(userId: string, user: UserSubscription): void {
    if (user.isIdle) this.#users.delete(userId)
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
        for (const user of this.#users.values()) user.settle()
        break
      default:
        this.#receivedOf(message)
    }
  }

  #receivedOf(message: Incoming): void {
    const { user_id: id, type } = message
    // A request was not read, so its answer would be awaited in vain.
    if (id === undefined && (type === 'error' || type === 'subscription_failed')) throw new Error(String(message.message))
    const userId = String(id)
    const user = this.#users.get(userId)
    if (user === undefined) return
    user.received(message)
    this.#forget(userId, user)
  }
}
