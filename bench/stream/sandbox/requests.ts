/** What the test sandbox is asked by a measurement. */

/** How many logins, and what each has. Logins are handed out in the order in which somebody asks to log in. */
export interface SandboxShape {
  readonly accountsOfLogin: number
  /** Orders that work from the start, by account. */
  readonly ordersOfAccount: number
  readonly positionsOfAccount: number
}

export interface FeedPlan {
  /** Updates in all; update number n is of login n modulo `logins`, each of its orders in turn. */
  readonly total: number
  readonly logins: number
  /** Updates a second, each when it is due, however late those before were. Null: as many as `windowMax` allows. */
  readonly perSecond: number | null
  /** Updates that may be under way before the listener has confirmed earlier ones. */
  readonly windowMax: number | null
}

export type SandboxRequests = {
  readonly open: { readonly input: SandboxShape; readonly output: { readonly url: string } }
  /** Streams that are logged in. */
  readonly streams: { readonly input: null; readonly output: number }
  /** Resolves when the last update was handed to its sockets. Gives how long that took, in milliseconds. */
  readonly feed: { readonly input: FeedPlan; readonly output: { readonly tookMs: number } }
}
