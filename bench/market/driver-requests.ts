import type { Subscription } from './client/session.ts'
import type { Reader } from './sandbox/streams.ts'

/** Requests that a measurement sends to the driver. Times in milliseconds. */
export type DriverRequests = {
  /** Opens the front. */
  readonly open: { readonly input: null; readonly output: { readonly url: string } }
  /** Where the real sandbox behind the front is. */
  readonly lead: { readonly input: { readonly port: number }; readonly output: null }
  /** Opens the one client that trades are checked at; the one before is closed. */
  readonly attend: { readonly input: Attendance; readonly output: null }
  /** Listens to the front's own stream, for the delays of the front and the driver themselves. */
  readonly listen: { readonly input: null; readonly output: null }
  readonly feed: { readonly input: FeedPlan; readonly output: FeedResult }
  /** Opens sessions that receive nothing, each with these subscriptions; they stay until `leave`. */
  readonly idle: { readonly input: Idle; readonly output: null }
  readonly leave: { readonly input: null; readonly output: null }
  readonly snapshot: { readonly input: SnapshotPlan; readonly output: SnapshotTimes }
}

export interface Attendance {
  /** Of the stream to attend: the service's or a floor's. */
  readonly url: string
  /** Null at a floor. */
  readonly token: string | null
  /** Who reads the front's stream for it. */
  readonly reader: Exclude<Reader, 'direct'>
  readonly symbols: readonly string[]
}

export interface FeedPlan {
  readonly seconds: number
  /** Trades in one message of the sandbox. */
  readonly batch: number
  /** Trades a second. Null: as many as `windowMax` allows. */
  readonly perSecond: number | null
  /** Trades that may be under way. */
  readonly windowMax: number
}

export interface FeedResult {
  /** Trades that came. All that were sent have, in order. */
  readonly total: number
  /** From the first sent to the last received. */
  readonly spanMs: number
  /** From being sent to being received, by trade; only with `perSecond`. */
  readonly latencies: Float64Array
  /** The same at the front's own stream; empty when nobody listens there. */
  readonly direct: Float64Array
}

export interface Idle {
  readonly url: string
  readonly token: string
  readonly sessions: number
  readonly subscriptions: readonly Subscription[]
}

export interface SnapshotPlan {
  readonly url: string
  readonly token: string
  readonly symbol: string
  /** RFC 3339. */
  readonly from: string
  readonly to: string
}

/** Since the request was sent. */
export interface SnapshotTimes {
  /** First byte of the sandbox's answer, at the front. */
  readonly sandboxMs: number
  /** First byte at the client. */
  readonly firstMs: number
  readonly lastMs: number
  readonly bars: number
}
