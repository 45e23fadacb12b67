/** What the servers and the client of the fan-out measurement are asked. */

import type { SessionPlan } from '../client/session.ts'

export interface ServerOptions {
  readonly shape: string
  /** Bytes of an update; the service sends real order records instead when asked for `orders`. */
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
    /** `bytes` of an update as it is sent; `clients` by platform, where the server asks who is there. */
    readonly output: { readonly url: string; readonly bytes: number; readonly clients: readonly Client[] | null }
  }
  readonly start: { readonly input: null; readonly output: null }
  /** Gives how many events each user has had. */
  readonly stop: { readonly input: null; readonly output: Uint32Array }
}

/** Updates received since the sessions were opened, and when they were counted: milliseconds of the machine's monotonic clock. */
export interface Counted {
  readonly updates: number
  readonly at: number
  /** Processor time of the client's process so far. */
  readonly cpuMs: number
}

export interface Settled {
  /** By session. */
  readonly updates: readonly number[]
  /** Sessions of which every update was read: how many there are, and what was out of order or missing in them. */
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
