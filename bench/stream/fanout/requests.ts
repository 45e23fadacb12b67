/** Requests to the servers and the client of the fan-out measurement. */

import type { SessionPlan } from '../client/session.ts'

export interface ServerOptions {
  readonly shape: string
  /** Bytes of an update; for `orders` the service sends real order records instead. */
  readonly bytes: number
  readonly how: 'gathered' | 'plain' | 'service' | 'orders'
}

export interface Client {
  readonly clientId: string
  readonly clientSecret: string
}

export type ServerRequests = {
  readonly open: {
    readonly input: ServerOptions
    /** `bytes` of an update as it is sent; `clients` by platform, if the server requires authentication. */
    readonly output: { readonly url: string; readonly bytes: number; readonly clients: readonly Client[] | null }
  }
  readonly start: { readonly input: null; readonly output: null }
  /** Returns each user's number of events. */
  readonly stop: { readonly input: null; readonly output: Uint32Array }
}

/** Updates received since the sessions were opened, and the time of the count: milliseconds of the machine's monotonic clock. */
export interface Counted {
  readonly updates: number
  readonly at: number
  /** Processor time of the client's process so far. */
  readonly cpuMs: number
}

export interface Settled {
  /** By session. */
  readonly updates: readonly number[]
  /** Sessions that read every update: their number, and updates out of order or missing. */
  readonly checked: number
  readonly faults: number
  readonly firstFault: string | null
}

export type ClientRequests = {
  readonly open: { readonly input: readonly SessionPlan[]; readonly output: null }
  readonly count: { readonly input: null; readonly output: Counted }
  /** Waits until every session has all its updates, or for five seconds. */
  readonly settle: { readonly input: readonly number[]; readonly output: Settled }
}
