/** The broker's secrets of one login; opaque outside its adapter. All values are text, so that they can be sealed together. */
export type Credentials = Readonly<Record<string, string>>

/** Holds one login's credentials for an adapter. Every refresh goes through it, so that it happens once. */
export interface CredentialsHolder {
  read(signal: AbortSignal): Promise<Credentials>
  /**
   * Runs `refresh` single-flight across all nodes, stores its result and returns the newest credentials. Skips the refresh if `used` was
   * replaced meanwhile. If `refresh` throws, nothing is stored.
   */
  renew(used: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials>
  /**
   * Whether this process may still send commands with the login. Asked right before a command's first byte; if false, the command is not
   * sent. Absent: always.
   */
  mayCommand?(): boolean
}

/**
 * `mayBeSpent`: an earlier refresh with these credentials was started and its answer is unknown. A refusal may then be caused by that
 * refresh and does not prove that the user's consent has ended.
 */
export type CredentialsRefresh = (current: Credentials, signal: AbortSignal, mayBeSpent?: boolean) => Promise<Credentials>
