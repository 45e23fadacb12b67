import { INBOX_LIMITS, type InboxLimits } from '../inbox.ts'

export interface MarketSessionLimits {
  readonly authenticateMs: number
  readonly failuresMax: number
  readonly subscriptionsMax: number
  readonly inbox: InboxLimits
}

export const MARKET_SESSION_LIMITS: MarketSessionLimits = {
  authenticateMs: 30_000,
  failuresMax: 5,
  subscriptionsMax: 500,
  inbox: INBOX_LIMITS
}
