import { INBOX_LIMITS, type InboxLimits } from '../inbox.ts'

export interface SessionLimits {
  readonly authenticateMs: number
  readonly failuresMax: number
  readonly usersMax: number
  readonly inbox: InboxLimits
}

export const SESSION_LIMITS: SessionLimits = { authenticateMs: 30_000, failuresMax: 5, usersMax: 500, inbox: INBOX_LIMITS }
