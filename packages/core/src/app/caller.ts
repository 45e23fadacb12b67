import type { Platform, User } from '../domain/account.ts'
import type { PlatformKey } from '../domain/platform-key.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { AuditEntry } from '../ports/store.ts'

/** An authenticated platform, and the origin of the request. */
export interface PlatformCaller {
  readonly platform: Platform
  /** The key it used; absent if there was none. */
  readonly key?: PlatformKey
  /** The hash of the secret that proved the key, and when the two expire: what is created with them expires then at the latest. */
  readonly keyProof?: { readonly secretHash: string; readonly endsAt: Timestamp | null }
  readonly ip: string | null
  readonly requestId: string | null
}

/** A platform acting for one of its users, both authenticated. */
export interface UserCaller extends PlatformCaller {
  readonly user: User
  /** The hash of the secret that proved the user; absent if the action has no request. */
  readonly secretHash?: string
  /** The operator who acts for the user instead of the platform, which only practice in the sandbox allows; absent: none does. */
  readonly operator?: string
}

/** Where a request came from. */
export interface RequestOrigin {
  readonly ip: string
  readonly requestId: string
}

/** An operator who acts for a platform. */
export interface OperatorCaller {
  readonly platform: Platform
  /** The operator's own name; written to the audit log. */
  readonly by: string
  /** Absent: the command line. */
  readonly from?: RequestOrigin
}

/** The audit entry of an action of `caller`. */
export function audited(
  clock: Clock,
  caller: PlatformCaller | UserCaller | OperatorCaller,
  action: string,
  target: string,
  detail: AuditEntry['detail'] = {},
  result: AuditEntry['result'] = 'ok'
): AuditEntry {
  if ('by' in caller) {
    const whose = { by: caller.by, platform_id: caller.platform.platformId }
    const { ip = null, requestId = null } = caller.from ?? {}
    return { at: clock.now(), actor: 'operator', action, target, result, ip, requestId, detail: { ...whose, ...detail } }
  }
  if ('operator' in caller && caller.operator !== undefined) {
    const { operator: by, platform, user, ip, requestId } = caller
    const whose = { by, platform_id: platform.platformId, user_key: user.userKey }
    return { at: clock.now(), actor: 'operator', action, target, result, ip, requestId, detail: { ...whose, ...detail } }
  }
  const actor = 'user' in caller ? `user:${caller.user.userKey}` : `platform:${caller.platform.platformId}`
  // The platform's own client id is not repeated.
  const key = caller.key === undefined || caller.key.clientId === caller.platform.clientId ? {} : { client_id: caller.key.clientId }
  return { at: clock.now(), actor, action, target, result, ip: caller.ip, requestId: caller.requestId, detail: { ...detail, ...key } }
}
