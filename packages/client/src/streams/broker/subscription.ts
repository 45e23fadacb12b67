import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Incoming, StreamConnection } from '../connection.ts'
import type { Update } from './items.ts'
import { isHealth, isUpdate, numberIn } from './parse.ts'

/** One reader of the user, as its subscription needs it. */
export interface Subscriber {
  /** The number after which the service shall send updates; null: it begins with a snapshot. */
  readonly after: number | null
  /** Whether it wants no updates at present. */
  readonly isWaiting: boolean
  interrupted(reason: string): void
  subscribed(seq: number): void
  refused(message: string): void
  update(update: Update): void
  healthIs(status: StreamStatus): void
  caughtUp(seq: number): void
  deleted(): void
  /** The service was received again after a silence. */
  receivedAgain(): void
  end(error: unknown): void
}

/** What the present session of the service does for the user. */
type State = 'off' | 'asked' | 'on' | 'leaving'

/**
 * One user in the stream. At most one request about a user is under way, and what the service sends belongs to the follower that asked for
 * it: an answer is never taken for that to another request, however fast followers come and go.
 */
export class UserSubscription {
  /** The one that wants updates now; null: none does. */
  follower: Subscriber | null = null
  readonly #userId: string
  readonly #connection: StreamConnection
  #state: State = 'off'
  /** The follower for which the present subscription was asked for. */
  #asker: Subscriber | null = null

  constructor(userId: string, connection: StreamConnection) {
    this.#userId = userId
    this.#connection = connection
  }

  /** Neither wanted, nor known to the session. */
  get isIdle(): boolean {
    return this.follower === null && this.#state === 'off'
  }

  /** Whether the service sends updates to this follower, and was received lately. */
  isOnFor(follower: Subscriber): boolean {
    return this.#connection.isReceiving && this.#state === 'on' && this.#asker === follower && this.follower === follower
  }

  /** Asks for what is wanted and not there yet, unless an answer is awaited. */
  settle(): void {
    const { follower } = this
    if (!this.#connection.isReady) return
    const wanting = follower?.isWaiting === true ? null : follower
    if (this.#state === 'on' && (wanting === null || wanting !== this.#asker)) this.#ask('leaving', 'unsubscribe_user')
    else if (this.#state === 'off' && wanting !== null) {
      this.#asker = wanting
      this.#ask('asked', 'subscribe_user', wanting.after === null ? {} : { after: wanting.after })
    }
  }

  /** The session has ended. */
  interrupted(reason: string): void {
    this.#state = 'off'
    this.follower?.interrupted(reason)
  }

  /** @throws Error so that the session ends and the next one goes on from what came */
  received(message: Incoming): void {
    const follower = this.#asker === this.follower ? this.follower : null
    if (message.type === 'user_subscribed' || message.type === 'subscription_failed') {
      if (this.#state !== 'asked') return
      const isOn = message.type === 'user_subscribed'
      this.#state = isOn ? 'on' : 'off'
      if (isOn) follower?.subscribed(numberIn(message))
      else follower?.refused(String(message.message))
      this.settle()
    } else if (message.type === 'user_unsubscribed') {
      const wasOn = this.#state === 'on'
      if (!wasOn && this.#state !== 'leaving') return
      this.#state = 'off'
      // Without a request, it means that the user was deleted, or disabled.
      if (wasOn) follower?.deleted()
      this.settle()
    } else if (this.#state === 'on' && follower !== null) {
      if (isUpdate(message)) follower.update(message)
      else if (isHealth(message)) follower.healthIs(message)
      else if (message.type === 'caught_up') follower.caughtUp(numberIn(message))
    }
  }

  #ask(state: State, action: string, more: object = {}): void {
    this.#state = state
    this.#connection.send({ action, user_id: this.#userId, ...more })
  }
}
