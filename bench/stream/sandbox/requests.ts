/** Requests from a measurement to the test sandbox. */

/** The number of logins, and the accounts and orders of each. Logins are assigned in the order of login requests. */
export interface SandboxShape {
  readonly accountsOfLogin: number
  /** Orders that work from the start, by account. */
  readonly ordersOfAccount: number
  readonly positionsOfAccount: number
}

export interface FeedPlan {
  /** Total number of updates; update number n is of login n modulo `logins`, each of its orders in rotation. */
  readonly total: number
  readonly logins: number
  /** Updates per second, each at its due time, however late the earlier ones were. Null: as many as `windowMax` allows. */
  readonly perSecond: number | null
  /** Updates that may be in flight before the listener has confirmed earlier ones. */
  readonly windowMax: number | null
}

export type SandboxRequests = {
  readonly open: { readonly input: SandboxShape; readonly output: { readonly url: string } }
  /** Streams that are logged in. */
  readonly streams: { readonly input: null; readonly output: number }
  /** Resolves when the last update was written to its sockets. Returns the duration in milliseconds. */
  readonly feed: { readonly input: FeedPlan; readonly output: { readonly tookMs: number } }
}
