/** The broker's quotas, each separate, for one login. */

import { type HttpReply, header } from '../kit/http.ts'
import type { BrokerLimits, RateLimits } from '../kit/rate-limiter.ts'

const WINDOW_S = 300
const WAIT_MS_MAX = 10_000

/**
 * A quota of so many calls in any `windowS` seconds, of which some are left to those that an order waits for. Half of it may go at once and the
 * other half as time goes on: however these fall, no window has more.
 */
function quota(calls: number, windowS = WINDOW_S, reservedForOrders = 0): RateLimits {
  return { perSecond: calls / 2 / windowS, burst: calls / 2, reservedForOrders, waitingMax: 500, waitMsMax: WAIT_MS_MAX }
}

export const QUOTAS = {
  /** No quota of orders is published: this keeps a runaway caller from being the one who finds it. Previews leave half to orders. */
  commands: { perSecond: 50, burst: 200, reservedForOrders: 100, waitingMax: 500, waitMsMax: 5_000 },
  accounts: quota(320),
  balances: quota(320),
  // An order of shares reads the position before it.
  positions: quota(320, WINDOW_S, 60),
  orders: quota(320, WINDOW_S, 60),
  quotes: quota(500),
  bars: quota(500),
  symbols: quota(500),
  // Openings of chains count as well.
  options: quota(90, 60),
  quote_streams: quota(500),
  bar_streams: quota(500),
  depth_streams: quota(30, 60)
} as const satisfies Record<string, RateLimits>

export type Resource = keyof typeof QUOTAS

/** What is left of the quota of the requested resource, and the seconds until it resets. */
export function limitsOf(reply: Pick<HttpReply, 'headers'>): BrokerLimits | null {
  const remaining = numberOf(reply, 'x-ratelimit-remaining')
  const resetS = numberOf(reply, 'x-ratelimit-reset')
  return remaining === null || resetS === null ? null : { remaining, resetInMs: resetS * 1_000 }
}

/** The pause that a 429 asks for: the broker's own header, or the common one. */
export function resetMs(reply: Pick<HttpReply, 'headers'>): number | null {
  const resetS = numberOf(reply, 'x-ratelimit-reset') ?? numberOf(reply, 'retry-after')
  return resetS === null ? null : resetS * 1_000
}

function numberOf(reply: Pick<HttpReply, 'headers'>, name: string): number | null {
  const value = header(reply, name)?.trim() ?? ''
  return /^\d{1,5}$/.test(value) ? Number(value) : null
}
