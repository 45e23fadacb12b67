/** The interface of dialects: what the emulation of a broker receives, and what it must provide. */

import type { FastifyInstance } from 'fastify'
import type { ResponseWriter } from './api/response-writer.ts'
import type { Core } from './core.ts'
import type { StreamEndpoint } from './stream/gate.ts'
import type { StreamFaultSpec } from './stream/stream-faults.ts'
import type { Timers } from './timers.ts'

/** The brokerage as dialects see it: the same customers, state, market, faults and counters that its own API works on. */
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
  /** The one OAuth client, the same for every dialect. */
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUris: readonly string[] }
  readonly seed: string
  /** What the control API sets: the life of access tokens (null: as the broker has it) and how long a spent refresh token is still taken. */
  readonly oauth: () => { readonly accessTtlS: number | null; readonly refreshGraceMs: number }
  /** Real time between two signs of life of a stream; null: as the broker has it. */
  readonly heartbeatMs: number | null
}

/** The dialect of one broker. All its paths are below `/<name>`. */
export interface Dialect {
  /** The broker's folder name, such as `alpaca`. */
  readonly name: string
  /** Registers its routes, before the sandbox is open. */
  readonly mount: (app: FastifyInstance) => void
  /** Where its WebSockets come in. */
  readonly endpoints: readonly StreamEndpoint[]
  /** Credentials as this broker's adapter keeps them, without the browser flow; `scopes` are the sandbox's `read` and `trade`. */
  readonly mint: (login: string, scopes: readonly string[]) => Readonly<Record<string, string>>
  /** The API key of a login, where the broker gives keys; shown by the control API. */
  readonly keys?: (login: string) => Readonly<Record<string, string>>
  /** Bounds of this broker's that the control API may set, such as its requests a minute. */
  readonly limits?: {
    readonly shown: () => object
    /** @throws Problem `bad_request` */
    readonly set: (body: unknown) => void
  }
  /** Ends every grant of a login, or (`refreshOnly`) lets access tokens live. @returns grants touched. */
  readonly endLogin: (login: string, refreshOnly: boolean) => number
  /** Carries out a stream fault of the control API. @returns how many were open. */
  readonly injectFault: (on: 'account' | 'market', order: StreamFaultSpec) => number
  /** Its streams as they stand. */
  readonly report: () => readonly object[]
  /** The state is others now: nothing it remembers of orders holds any more. */
  readonly reset: () => void
  readonly close: () => Promise<void> | void
}

export type OpenDialect = (brokerage: DialectBrokerage) => Dialect
