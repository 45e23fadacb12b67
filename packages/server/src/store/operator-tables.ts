// The tables of operators' codes, sessions, logins and keys. Scopes are JSON texts; each secret is there by its hash only.
import type { OperatorKeyId, OperatorSessionId } from '@trunkline/core/domain/ids'
import type { OperatorSession } from '@trunkline/core/domain/operator'
import type { Timestamp } from '@trunkline/core/domain/timestamp'

export interface OperatorCodesTable {
  code_hash: string
  operator: string
  scopes: string
  expires_at: Timestamp
}

export interface OperatorSessionsTable {
  session_id: OperatorSessionId
  secret_hash: string
  operator: string
  scopes: string
  origin: OperatorSession['origin']
  created_at: Timestamp
  last_used_at: Timestamp
  expires_at: Timestamp
}

/** Logins by the provider that were completed lately, each once. */
export interface OperatorLoginsTable {
  state_hash: string
  expires_at: Timestamp
}

export interface OperatorKeysTable {
  key_id: OperatorKeyId
  secret_hash: string
  name: string
  scopes: string
  created_by: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  expires_at: Timestamp | null
}
