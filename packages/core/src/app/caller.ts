import type { Platform, User } from '../domain/account.ts'
import type { PlatformKey } from '../domain/platform-key.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { AuditEntry } from '../ports/store.ts'

/** A platform that proved who it is, and where the request came from. */
export interface PlatformCaller {
  readonly platform: Platform
  /** The key it called with; left out where there was none. */
  readonly key?: PlatformKey
  /** Hash of the secret that proved the key, and when the two end by themselves: what is made with them lives no longer. */
  readonly keyProof?: { readonly secretHash: string; readonly endsAt: Timestamp | null }
  readonly ip: string | null
  readonly requestId: string | null
}

/** A platform acting for one of its users, both proved. */
export interface UserCaller extends PlatformCaller {
  readonly user: User
  /** Hash of the secret that proved the user; left out where no request is behind the action. */
  readonly secretHash?: string
}

/** The audit entry of an action of `caller`. */
export function audited(
  clock: Clock,
  caller: PlatformCaller | UserCaller,
  action: string,
  target: string,
  detail: AuditEntry['detail'] = {},
  result: AuditEntry['result'] = 'ok'
): AuditEntry {
  const actor = 'user' in caller ? `user:${caller.user.userKey}` : `platform:${caller.platform.platformId}`
  // The platform's own client id is not repeated.
  const key = caller.key === undefined || caller.key.clientId === caller.platform.clientId ? {} : { client_id: caller.key.clientId }
  return { at: clock.now(), actor, action, target, result, ip: caller.ip, requestId: caller.requestId, detail: { ...detail, ...key } }
}
