import type { KeyId, PlatformId } from './ids.ts'
import { Malformed } from './malformed.ts'
import type { Timestamp } from './timestamp.ts'

/** Permissions of a key: reading; placing and changing orders; administering users and their connections. None implies another. */
export const SCOPES = ['read', 'trade', 'users'] as const
export type Scope = (typeof SCOPES)[number]

/** A client id and client secret of a platform. Its first key has the platform's client id and every scope. */
export interface PlatformKey {
  readonly keyId: KeyId
  readonly platformId: PlatformId
  readonly clientId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Addresses and networks that it may be used from, such as `192.0.2.0/24`; empty: any. */
  readonly addresses: readonly string[]
  readonly createdAt: Timestamp
  /** Null: it does not expire. */
  readonly expiresAt: Timestamp | null
  /** To the minute; null: never used. */
  readonly lastUsedAt: Timestamp | null
  readonly disabledAt: Timestamp | null
}

/** At least one scope, each once, in the order of {@link SCOPES}. @throws Malformed */
export function parseScopes(given: readonly string[]): readonly Scope[] {
  const unknown = given.find(name => !SCOPES.some(scope => scope === name))
  if (unknown !== undefined || given.length === 0) throw new Malformed('scope', `one or more of ${SCOPES.join(', ')}`, unknown ?? 'none')
  return SCOPES.filter(scope => given.includes(scope))
}
