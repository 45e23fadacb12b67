import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Incoming, StreamConnection } from '../connection.ts'
import type { Update } from './items.ts'
import { isHealth, isUpdate, numberIn } from './parse.ts'

/** One reader of the user, as its subscription needs it. */
export interface Subscriber {
  /** The number after which the service shall send updates; null: it begins with a snapshot. */
  after(): number | null
  /** Whether it wants no updates at present. */
  isWaiting(): boolean
  interrupted(reason: string): void
  subscribed(seq: number): void
  refused(message: string): void
  update(update: Update): void
  healthIs(status: StreamStatus): void
  caughtUp(seq: number): void
  deleted(): void
  /** The service was received again after a silence. */
  receivedAgain(): void
  end(error?: unknown): void
}

/** What the present session of the service does for the user. */
type State = 'off' | 'asked' | 'on' | 'leaving'

/**
 * One user in the stream. At most one request about a user is under way, and what the service sends belongs to the follower that asked for
 * it: an answer is never taken for that to another request, however fast followers come and go.
 */
export interface UserSubscription {
  /** The one that wants updates now; null: none does. */
  follower: Subscriber | null
  /** Neither wanted, nor known to the session. */
  isIdle(): boolean
  /** Whether the service sends updates to this follower, and was received lately. */
  isOnFor(follower: Subscriber): boolean
  /** Asks for what is wanted and not there yet, unless an answer is awaited. */
  settle(): void
  /** The session has ended. */
  interrupted(reason: string): void
  /** @throws Error so that the session ends and the next one goes on from what came */
  received(message: Incoming): void
}

export function userSubscription(userId: string, connection: StreamConnection): UserSubscription {
  let state: State = 'off'
  /** The follower for which the present subscription was asked for. */
  let asker: Subscriber | null = null

  function ask(next: State, action: string, more: object = {}): void {
    state = next
    connection.send({ action, user_id: userId, ...more })
  }

  const user: UserSubscription = {
    follower: null,
    isIdle: () => user.follower === null && state === 'off',
    isOnFor: follower => connection.isReceiving && state === 'on' && asker === follower && user.follower === follower,
    settle() {
      if (!connection.isReady) return
      const wanting = user.follower?.isWaiting() ? null : user.follower
      if (state === 'on' && (wanting === null || wanting !== asker)) ask('leaving', 'unsubscribe_user')
      else if (state === 'off' && wanting !== null) {
        asker = wanting
        const after = wanting.after()
        ask('asked', 'subscribe_user', after === null ? {} : { after })
      }
    },
    interrupted(reason) {
      state = 'off'
      user.follower?.interrupted(reason)
    },
    received(message) {
      const { type } = message
      const follower = asker === user.follower ? asker : null
      if (type === 'user_subscribed' || type === 'subscription_failed') {
        if (state !== 'asked') return
        const isOn = type === 'user_subscribed'
        state = isOn ? 'on' : 'off'
        if (isOn) follower?.subscribed(numberIn(message))
        else follower?.refused(String(message.message))
        user.settle()
      } else if (type === 'user_unsubscribed') {
        const wasOn = state === 'on'
        if (!wasOn && state !== 'leaving') return
        state = 'off'
        // Without a request, it means that the user was deleted, or disabled.
        if (wasOn) follower?.deleted()
        user.settle()
      } else if (state === 'on' && follower !== null) {
        if (isUpdate(message)) follower.update(message)
        else if (isHealth(message)) follower.healthIs(message)
        else if (type === 'caught_up') follower.caughtUp(numberIn(message))
      }
    }
  }
  return user
}
