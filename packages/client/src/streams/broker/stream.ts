import { type ConnectionOptions, type Incoming, streamConnection } from '../connection.ts'
import { invalid, StreamError } from '../errors.ts'
import { followerOf, type ReadEvents } from './follower.ts'
import type { Following } from './items.ts'
import { type UserSubscription, userSubscription } from './subscription.ts'

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
  /** The `seq` of the last update that you have. Left out or null: begin with a snapshot. */
  readonly after?: number | null | undefined
  readonly signal?: AbortSignal
}

/** What one session may have. */
const USERS_MAX = 500
const WAITING_MAX = 10_000

/** Updates of many users over one connection, which is open while somebody follows. */
export class BrokerStream {
  readonly #sessions

  /** @throws StreamError setting_invalid */
  constructor(options: BrokerStreamOptions) {
    this.#sessions = brokerSessions(options)
  }

  /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
  get ageMs(): number | null {
    return this.#sessions.ageMs()
  }

  /**
   * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or disabled, or
   * the signal aborts.
   * @throws StreamError, at once or from the iteration; and the error of `readEvents` that is final, such as an unknown user
   */
  follow(userId: string, options: FollowOptions = {}): Following {
    return this.#sessions.follow(userId, options)
  }

  /**
   * For what belongs to the stream and failed, such as the snapshot of a copy: calls after the random wait that the stream itself
   * makes after so many failures in a row, 30 seconds at most, unless the returned function was called before.
   */
  later(failures: number, run: () => void): () => void {
    return this.#sessions.later(failures, run)
  }
}

function brokerSessions(options: BrokerStreamOptions = Object()) {
  const { url, clientId, clientSecret, waitingMax = WAITING_MAX, readEvents } = options
  const users = new Map<string, UserSubscription>()
  let followed = 0
  // There, nobody would greet.
  if (/\/market-data\/stream$/.test(url)) throw invalid('url is of market data: the broker stream is at /stream')
  if (!(waitingMax > 0)) throw invalid(`waitingMax is a number from 1 on, and was ${waitingMax}`)

  const connection = streamConnection(options, {
    opened: () => undefined,
    received(message, wasSilent) {
      received(message)
      if (wasSilent) for (const { follower } of users.values()) follower?.receivedAgain()
    },
    ended(reason) {
      for (const [userId, user] of users) {
        user.interrupted(reason)
        forget(userId, user)
      }
    },
    failed: error => {
      for (const { follower } of [...users.values()]) follower?.end(error)
    },
    ping: () => ({ action: 'ping' }),
    secret: () => clientSecret
  })

  /** Until the service has answered that a user is unsubscribed, the answer is waited for. */
  function forget(userId: string, user: UserSubscription): void {
    if (user.isIdle()) users.delete(userId)
  }

  function received(message: Incoming): void {
    switch (message.type) {
      case 'welcome':
        connection.send({ action: 'authenticate', client_id: clientId, client_secret: clientSecret, extensions: ['stream_status'] })
        break
      case 'auth_error':
        connection.refused(String(message.message))
        break
      case 'auth_success':
        connection.ready()
        // With all topics, `seq` has no gap, so a missing update is noticed.
        connection.send({ action: 'subscribe', topics: ['all'] })
        for (const user of users.values()) user.settle()
        break
      default:
        receivedOf(message)
    }
  }

  function receivedOf(message: Incoming): void {
    const { user_id: id, type } = message
    // A request was not read, so its answer would be awaited in vain.
    if (id === undefined && (type === 'error' || type === 'subscription_failed')) throw new Error(String(message.message))
    const userId = String(id)
    const user = users.get(userId)
    if (user === undefined) return
    user.received(message)
    forget(userId, user)
  }

  return {
    ageMs: () => connection.ageMs,
    later: connection.later,
    follow(userId: string, { after = null, signal }: FollowOptions): Following {
      // The service refuses these without naming the user, so that its answer would be awaited in vain.
      if (!/^(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,64}(?<!\s)$/u.test(userId))
        throw invalid('a user_id has 1 to 64 characters, and no space at its ends')
      if (!(Number.isSafeInteger(after ?? 0) && Number(after) >= 0)) throw invalid(`after is the seq of an update, and was ${after}`)
      const user = users.get(userId) ?? userSubscription(userId, connection)
      if (user.follower !== null)
        throw new StreamError('followed_already', `${userId} has a reader in this stream: end it first, or make another stream`)
      if (followed >= USERS_MAX) throw new StreamError('too_many', `one stream follows at most ${USERS_MAX} users: make another one`)
      const follower = followerOf({ userId, after, waitingMax, readEvents, timers: connection.timers }, user, () => {
        user.follower = null
        followed -= 1
        user.settle()
        forget(userId, user)
        if (followed > 0) return
        users.clear()
        connection.stop()
      })
      user.follower = follower
      users.set(userId, user)
      followed += 1
      follower.stopWith(signal)
      if (!follower.isEnded()) {
        connection.start()
        user.settle()
      }
      return follower
    }
  }
}
