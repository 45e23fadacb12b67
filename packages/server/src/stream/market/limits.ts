import type { ClientSessionLimits } from '../client-session.ts'
import { INBOX_LIMITS } from '../inbox.ts'

export interface MarketSessionLimits extends ClientSessionLimits {
  readonly subscriptionsMax: number
}

export const MARKET_SESSION_LIMITS: MarketSessionLimits = {
  authenticateMs: 30_000,
  failuresMax: 5,
  subscriptionsMax: 500,
  inbox: INBOX_LIMITS
}
