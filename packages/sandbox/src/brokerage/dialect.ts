/** The interface of dialects: what the emulation of a broker receives and must provide. */

import type { FastifyInstance } from 'fastify'
import type { ResponseWriter } from './api/response-writer.ts'
import type { Core } from './core.ts'
import type { StreamEndpoint } from './stream/gate.ts'
import type { StreamFaultSpec } from './stream/stream-faults.ts'
import type { Timers } from './timers.ts'

/** The brokerage for dialects: the same customers, state, market, faults and counters that its own API uses. */
export interface DialectBrokerage extends Core {
  readonly responseWriter: ResponseWriter
  readonly timers: Timers
  /** Real time, milliseconds since the epoch. */
  readonly realNow: () => number
  /** Unguessable text of at least 20 letters, digits, `-` and `_`. */
  readonly newId: () => string
  readonly onError: (error: unknown) => void
  /** A file of the data folder; null: nothing survives the process. */
  readonly inFolder: (name: string) => string | null
  /** The single OAuth client, the same for every dialect. */
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUris: readonly string[] }
  readonly seed: string
  /** Set by the control API: the lifetime of access tokens; null: the broker's. */
  readonly oauth: () => { readonly accessTtlS: number | null }
  /** Real time between two heartbeats of a stream; null: the broker's. */
  readonly heartbeatMs: number | null
}

/** The dialect of one broker. All its paths are below `/<name>`. */
export interface Dialect {
  /** The broker's folder name, such as `alpaca`. */
  readonly name: string
  /** Registers its routes, before the sandbox is open. */
  readonly mount: (app: FastifyInstance) => void
  /** The paths of its WebSockets. */
  readonly endpoints: readonly StreamEndpoint[]
  /** Credentials as this broker's adapter stores them, without the browser flow; `scopes` are the sandbox's `read` and `trade`. */
  readonly mint: (login: string, scopes: readonly string[]) => Readonly<Record<string, string>>
  /** The API key of a login, if the broker has keys; shown by the control API. */
  readonly keys?: (login: string) => Readonly<Record<string, string>>
  /** Limits of this broker that the control API may set, such as its requests per minute. */
  readonly limits?: {
    readonly shown: () => object
    /** @throws Problem `bad_request` */
    readonly set: (body: unknown) => void
  }
  /** Ends every grant of a login, or (`refreshOnly`) all but its access tokens. @returns grants touched. */
  readonly endLogin: (login: string, refreshOnly: boolean) => number
  /** Carries out a stream fault of the control API. @returns the number of open streams. */
  readonly injectFault: (on: 'account' | 'market', order: StreamFaultSpec) => number
  /** The state of its streams. */
  readonly report: () => readonly object[]
  /** The state was replaced: everything it remembers of orders is invalid. */
  readonly reset: () => void
  readonly close: () => Promise<void> | void
}

export type OpenDialect = (brokerage: DialectBrokerage) => Dialect
