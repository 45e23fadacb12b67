import type { OperatorKeyId, OperatorSessionId } from './ids.ts'
import { Malformed } from './malformed.ts'
import type { Timestamp } from './timestamp.ts'

/** Permissions of an operator: reading; changing; controlling the sandbox. None implies another. */
export const OPERATOR_SCOPES = ['read', 'manage', 'sandbox'] as const
export type OperatorScope = (typeof OPERATOR_SCOPES)[number]

/** An operator who is logged in to the console. Only the hash of its secret is stored. */
export interface OperatorSession {
  readonly sessionId: OperatorSessionId
  /** As the command line named the operator, `ada@host`; or as the login provider did, with its host: `ada (login.example.com)`. */
  readonly operator: string
  readonly scopes: readonly OperatorScope[]
  /** How the operator proved who they are. */
  readonly origin: 'code' | 'oidc'
  readonly createdAt: Timestamp
  /** To the minute. */
  readonly lastUsedAt: Timestamp
  readonly expiresAt: Timestamp
}

/** Whom a login provider may log in: everybody whose claim has this value gets the scopes. */
export interface OperatorGrant {
  /** Compared as it is: case and spaces matter. */
  readonly value: string
  readonly scopes: readonly OperatorScope[]
}

/** The scopes of all grants for any of the values, in the order of {@link OPERATOR_SCOPES}; none for somebody unknown. */
export function grantedScopes(grants: readonly OperatorGrant[], values: readonly string[]): readonly OperatorScope[] {
  const given = new Set(values)
  const scopes = new Set(grants.filter(({ value }) => given.has(value)).flatMap(grant => grant.scopes))
  return OPERATOR_SCOPES.filter(scope => scopes.has(scope))
}

/** A bearer key for an operator's programs. Only the hash of its secret is stored. */
export interface OperatorKey {
  readonly keyId: OperatorKeyId
  readonly name: string
  readonly scopes: readonly OperatorScope[]
  /** The operator who made it. */
  readonly createdBy: string
  readonly createdAt: Timestamp
  /** To the minute; null: never used. */
  readonly lastUsedAt: Timestamp | null
  /** Null: it does not expire. */
  readonly expiresAt: Timestamp | null
}

/** At least one scope, each once, in the order of {@link OPERATOR_SCOPES}. @throws Malformed */
export function parseOperatorScopes(given: readonly string[]): readonly OperatorScope[] {
  const unknown = given.find(name => !OPERATOR_SCOPES.some(scope => scope === name))
  if (unknown !== undefined || given.length === 0)
    throw new Malformed('scope', `one or more of ${OPERATOR_SCOPES.join(', ')}`, unknown ?? 'none')
  return OPERATOR_SCOPES.filter(scope => given.includes(scope))
}
