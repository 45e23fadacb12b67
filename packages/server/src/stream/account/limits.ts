import type { ClientSessionLimits } from '../client-session.ts'
import { INBOX_LIMITS } from '../inbox.ts'

export interface SessionLimits extends ClientSessionLimits {
  readonly usersMax: number
}

export const SESSION_LIMITS: SessionLimits = { authenticateMs: 30_000, failuresMax: 5, usersMax: 500, inbox: INBOX_LIMITS }
