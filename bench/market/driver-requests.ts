import type { Subscription } from './client/session.ts'
import type { Reader } from './sandbox/streams.ts'

/** Requests from a measurement to the driver. Times are in milliseconds. */
export type DriverRequests = {
  /** Opens the front. */
  readonly open: { readonly input: null; readonly output: { readonly url: string } }
  /** The address of the real sandbox behind the front. */
  readonly lead: { readonly input: { readonly port: number }; readonly output: null }
  /** Opens the one client that checks trades; closes the previous one. */
  readonly attend: { readonly input: Attendance; readonly output: null }
  /** Reads the front's own stream, to measure the delays of the front and the driver themselves. */
  readonly listen: { readonly input: null; readonly output: null }
  readonly feed: { readonly input: FeedPlan; readonly output: FeedResult }
  /** Opens sessions that receive nothing, each with these subscriptions; they stay until `leave`. */
  readonly idle: { readonly input: Idle; readonly output: null }
  readonly leave: { readonly input: null; readonly output: null }
  readonly snapshot: { readonly input: SnapshotPlan; readonly output: SnapshotTimes }
}

export interface Attendance {
  /** Of the stream to read: the service's or a floor's. */
  readonly url: string
  /** Null for a floor. */
  readonly token: string | null
  /** The reader of the front's stream for it. */
  readonly reader: Exclude<Reader, 'direct'>
  readonly symbols: readonly string[]
}

export interface FeedPlan {
  readonly seconds: number
  /** Trades in one message of the sandbox. */
  readonly batch: number
  /** Trades per second. Null: as many as `windowMax` allows. */
  readonly perSecond: number | null
  /** Trades that may be in flight. */
  readonly windowMax: number
}

export interface FeedResult {
  /** Trades received. All that were sent arrived in order. */
  readonly total: number
  /** From the first trade sent to the last one received. */
  readonly spanMs: number
  /** From sending to receiving, by trade; only with `perSecond`. */
  readonly latencies: Float64Array
  /** The same at the front's own stream; empty without a reader there. */
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
