import type { UserKey } from '@trunkline/core/domain/ids'

/** A session at the node that owns its user. A session here passes the client's messages through to it. */
export interface OwnerSession {
  /** Sends a message. While the promise is pending, no further message should be sent. */
  send(message: string): Promise<void> | undefined
  /** Reads nothing from the owner until {@link resume}. */
  pause(): void
  resume(): void
  /** Ends the owner's session. Nothing is received afterwards. */
  end(): void
}

export interface OwnerReceiver {
  /** A text message for the client. */
  message(payload: Uint8Array): void
  /** The owner has closed the session, or is gone. Called once. */
  closed(code: number, reason: string): void
}

/** Opens sessions at the owners of users. */
export interface OwnerSessions {
  /** Whether another node owns the user, or none. */
  isElsewhere(userKey: UserKey): boolean
  /**
   * Waits for an owner if there is none. Null: this node has become the owner.
   * @throws Error if no owner takes the session.
   */
  open(userKey: UserKey, address: string, receiver: OwnerReceiver): Promise<OwnerSession | null>
}
