import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'
import type { Rate, SharedLimits } from '../auth/rate-limit.ts'
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-gate.ts'
import type { FairLimits } from './fair-queue.ts'
import type { Forwarder } from './forwarder.ts'
import type { RefusalLimits } from './refusal-pace.ts'

/** One answered request, for metrics and operators. `route` is the pattern, never the URL. */
export interface ObservedRequest {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  /** The code of the error; null: there was none, or another node answered. */
  readonly code: string | null
  readonly milliseconds: number
  /** Whose credentials were proved; null: none were. */
  readonly platformId: string | null
  readonly userKey: string | null
  readonly address: string
}

export interface HttpLimits {
  readonly platform: Rate
  readonly user: Rate
  /** Failed authentications from one address. Above the rate the response is a 429. */
  readonly failedAuthentication: Rate
  /** Requests without credentials from one address: pages, scripts, documentation, unknown paths. */
  readonly page: Rate
  /** How many requests run at the same time, and how many wait. */
  readonly underWay: FairLimits
  /** Health checks from one address. */
  readonly probe: Rate
  /** How fast refusals are sent. */
  readonly refusals: RefusalLimits
  readonly connections: ConnectionLimits
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** A socket without any traffic for this time is closed. */
  readonly idleTimeoutMs: number
  readonly keepAliveTimeoutMs: number
}

/** High enough for any well-behaved client, low enough to stop a runaway loop. */
export const DEFAULT_LIMITS: HttpLimits = {
  platform: { perSecond: 2_000, burst: 4_000 },
  user: { perSecond: 200, burst: 400 },
  failedAuthentication: { perSecond: 1, burst: 300 },
  page: { perSecond: 100, burst: 1_000 },
  probe: { perSecond: 20, burst: 200 },
  // An order may take seconds at a slow broker. Other users of the platform must not wait for that broker.
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
  /** The service's URL from outside, without a trailing slash. A function, because it may depend on the port that is bound. */
  readonly publicUrl: () => string
  readonly webhooks: WebhookPorts
  /** Addresses and networks of proxies whose `x-forwarded-for` is trusted. */
  readonly trustedProxies: readonly string[]
  readonly limits: HttpLimits
  /** Which requests are logged. */
  readonly accessLog: 'all' | 'problems' | 'none'
  /** Serves `/docs`, `/docs/live`, `/openapi.json` and `/asyncapi.json`. */
  readonly docs: boolean
  /** Called once per answered request, for metrics. Must not throw. */
  readonly observe: (request: ObservedRequest) => void
  /** Passes on the requests of users whom another node owns; absent where there is one node. */
  readonly forwarder?: Forwarder
  /** Whether this node ends and others serve on: then no request is refused for it, and each response ends its connection. */
  readonly isLeaving?: () => boolean
  /** The limits that the nodes of a cluster share; absent where there is one node. */
  readonly sharedLimits?: SharedLimits | null
}

export const DEFAULT_OPTIONS: Omit<HttpOptions, 'publicUrl' | 'webhooks'> = {
  trustedProxies: [],
  limits: DEFAULT_LIMITS,
  accessLog: 'all',
  docs: true,
  observe: () => {}
}
