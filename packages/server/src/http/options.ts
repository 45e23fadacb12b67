import type { Rate } from '../auth/rate-limit.ts'
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-gate.ts'
import type { FairLimits } from './fair-queue.ts'
import type { RefusalLimits } from './refusal-pace.ts'

/** One answered request, as measured. `route` is the pattern, never the address. */
export interface ObservedRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly milliseconds: number
}

export interface HttpLimits {
  readonly platform: Rate
  readonly user: Rate
  /** Failed authentications of one address; beyond it, 429 until it has calmed down. */
  readonly failedAuthentication: Rate
  /** Requests without credentials of one address: pages, scripts, descriptions, whatever is not there. */
  readonly page: Rate
  /** How much is worked on at once, and how much waits. */
  readonly underWay: FairLimits
  /** Health checks of one address. */
  readonly probe: Rate
  /** How fast refusals are sent. */
  readonly refusals: RefusalLimits
  readonly connections: ConnectionLimits
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** A socket on which nothing moves for so long is closed. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
}

/** Generous to a real client, fatal to a loop gone wild. */
export const DEFAULT_LIMITS: HttpLimits = {
  platform: { perSecond: 2_000, burst: 4_000 },
  user: { perSecond: 200, burst: 400 },
  failedAuthentication: { perSecond: 1, burst: 300 },
  page: { perSecond: 100, burst: 1_000 },
  probe: { perSecond: 20, burst: 200 },
  // An order may take seconds at a slow broker: a platform's users must not wait for each other's brokers.
  underWay: {
    working: 4_000,
    platform: { working: 1_000, waiting: 1_000 },
    user: { working: 64, waiting: 192 },
    own: { working: 250, waiting: 500 },
    waitMs: 5_000
  },
  refusals: { prompt: { perSecond: 100, burst: 400 }, waitMs: 500, waitingMax: 4_000 },
  connections: CONNECTION_LIMITS,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 72_000
}

export interface HttpOptions {
  /** Where the service is reached from outside, without a slash at the end. Known only once the port is. */
  readonly publicUrl: () => string
  /** Addresses and networks of proxies whose `x-forwarded-for` is believed. */
  readonly trustedProxies: readonly string[]
  readonly limits: HttpLimits
  /** Which requests get a line in the log. */
  readonly accessLog: 'all' | 'problems' | 'none'
  /** Serves `/docs`, `/docs/live`, `/openapi.json` and `/asyncapi.json`. */
  readonly docs: boolean
  /** Called once per answered request, for metrics. Must not throw. */
  readonly observe: (request: ObservedRequest) => void
}

export const DEFAULT_OPTIONS: Omit<HttpOptions, 'publicUrl'> = {
  trustedProxies: [],
  limits: DEFAULT_LIMITS,
  accessLog: 'all',
  docs: true,
  observe: () => {}
}
