/** The stream cannot go on; `code` says why. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  declare readonly code: StreamErrorCode
  /** Of a refused subscription to market data: the service's `error_code`. */
  declare readonly reason: string | null

  constructor(code: StreamErrorCode, message: string, reason: string | null = null) {
    super(message)
    Object.assign(this, { code, reason })
  }
}

export type StreamErrorCode =
  /** An option of the stream cannot be used, or there is no stream at its address. */
  | 'setting_invalid'
  /** The credentials or the token were refused three times. */
  | 'credentials_refused'
  /** The platform or its key was disabled; or the connection ended, or another market data token of the user is in use. */
  | 'ended_by_service'
  /** Somebody else reads this user in the stream, or the copy is kept already. */
  | 'followed_already'
  /** The service refused to follow the user, or the subscription. */
  | 'subscription_refused'
  /** More waits than may wait: the reader takes items too slowly. */
  | 'too_slow'
  /** Followed, or subscribed to, more than one session may have. */
  | 'too_many'

/** Whether it is an error of the REST client that no repetition mends. */
export function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'retrySafe' in error && error.retrySafe === false
}

/** Whether it is an error of the REST client after which the same request may be sent again. */
export function isRetrySafe(error: unknown): error is Error {
  return error instanceof Error && 'retrySafe' in error && error.retrySafe === true
}

export function invalid(message: string): StreamError {
  return new StreamError('setting_invalid', message)
}
