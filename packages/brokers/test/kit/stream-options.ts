/** Options of streams in tests: no limits that a test could reach, short pauses, the system's clock. */

import { RateLimiter } from '../../src/kit/rate-limiter.ts'
import type { SocketOptions } from '../../src/kit/socket.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'

export function streamOptions(more: Partial<SocketOptions> = {}): SocketOptions {
  const limiter = () =>
    new RateLimiter({ perSecond: 1_000, burst: 1_000, reservedForOrders: 0, waitingMax: 100, waitMsMax: 10_000 }, systemClock)
  return {
    clock: systemClock,
    fraction: () => 0.5,
    log: new MemoryLog(),
    connectLimiters: { first: limiter(), again: limiter() },
    backoff: { firstMs: 5, longestMs: 20 },
    steadyMs: 10_000,
    handshakeMs: 60_000,
    eventsMax: 1_000,
    frameMax: 1_000,
    ...more
  }
}
