import type { ConnectionAttempt, Platform, PlatformBrand, User } from '../../domain/account.ts'
import { isAlive } from '../../domain/timestamp.ts'
import type { BrokerDefinition } from '../../ports/broker.ts'
import type { AuditEntry } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import { ended, type PortalOutcome } from './portal-outcome.ts'

/** What the portal page shows: the platform, and what it requests. */
export interface Invitation {
  readonly kind: 'invitation'
  readonly attempt: ConnectionAttempt
  readonly platform: Platform
  readonly brand: PlatformBrand
  readonly user: User
  /** The broker that the platform named, or all that fit, for the user to choose from. */
  readonly brokers: readonly BrokerDefinition[]
}

export type PortalDeps = Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'brokers' | 'vault' | 'bus' | 'log'>

/** The browser of a request: its origin, for the audit log, and the secret of its cookie, if it sent one. */
export interface BrowserSession {
  readonly browser: string | null
  readonly ip: string | null
  readonly requestId: string | null
}

/**
 * What a portal link shows now. Opening it consumes nothing, because previews of chat programs open it too; only a decision binds the
 * browser.
 */
export async function visitAttempt(deps: PortalDeps, token: string, browserSession: BrowserSession): Promise<Invitation | PortalOutcome> {
  const attempt = await deps.store.attempts.findByTokenHash(deps.hasher.hash(token))
  if (attempt === null) return ended(null, 'unknown_link')
  const problem = problemOf(deps, attempt, browserSession)
  if (problem !== null) return problem
  const { platforms, users } = deps.store
  const [platform, brand, user] = await Promise.all([
    platforms.find(attempt.platformId),
    platforms.brandOf(attempt.platformId),
    users.findByKey(attempt.userKey)
  ])
  if (platform === null || brand === null || user === null) return ended(null, 'unknown_link')
  return { kind: 'invitation', attempt, platform, brand, user, brokers: fitting(deps, attempt) }
}

/** Whose page may frame the start of a link: that of the registered address which the link returns to. Null: nobody's. */
export async function framingOf({ store, hasher }: Pick<Deps, 'store' | 'hasher'>, token: string): Promise<Framing | null> {
  const attempt = await store.attempts.findByTokenHash(hasher.hash(token))
  if (attempt === null || attempt.redirectUrl === null) return null
  const [platform, brand] = await Promise.all([store.platforms.find(attempt.platformId), store.platforms.brandOf(attempt.platformId)])
  if (platform === null || brand === null || !platform.redirectAllowList.includes(attempt.redirectUrl)) return null
  return { platform, brand, origin: new URL(attempt.redirectUrl).origin }
}

interface Framing {
  readonly platform: Platform
  readonly brand: PlatformBrand
  readonly origin: string
}

/** Why the attempt cannot continue in this browser; null if it can. */
export function problemOf(
  { clock, hasher }: Pick<Deps, 'clock' | 'hasher'>,
  attempt: ConnectionAttempt,
  { browser }: BrowserSession
): PortalOutcome | null {
  if (attempt.status !== 'open' && attempt.status !== 'authorizing') return ended(attempt, 'used')
  if (!isAlive(attempt, clock.now())) return ended(attempt, 'expired')
  // Another browser must not learn the redirect target of this user.
  if (attempt.browserHash !== null && !hasher.equal(hasher.hash(browser ?? ''), attempt.browserHash)) return ended(null, 'other_browser')
  return null
}

/** The brokers that an attempt may still use: the chosen one, or all that support the request. */
export function fitting({ brokers }: Pick<Deps, 'brokers'>, { broker, connectionType }: ConnectionAttempt): readonly BrokerDefinition[] {
  return [...brokers.values()]
    .filter(({ capabilities: { id } }) => broker === null || broker === id)
    .filter(({ capabilities: { marketData } }) => connectionType !== 'market_data' || marketData.channels.length > 0)
}

/** An audit entry about an attempt, made by the user's browser. */
export function portalAudit(
  { clock }: Pick<Deps, 'clock'>,
  attempt: ConnectionAttempt,
  browserSession: BrowserSession,
  action: string,
  result: AuditEntry['result'],
  detail: AuditEntry['detail'] = {}
): AuditEntry {
  return {
    at: clock.now(),
    actor: `user:${attempt.userKey}`,
    action,
    target: attempt.attemptId,
    result,
    ip: browserSession.ip,
    requestId: browserSession.requestId,
    detail
  }
}
