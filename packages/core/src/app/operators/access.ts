// How operators prove who they are: a one-time code becomes a session; programs have keys.
import { ServiceError } from '../../domain/errors.ts'
import type { OperatorSessionId } from '../../domain/ids.ts'
import type { OperatorScope, OperatorSession } from '../../domain/operator.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { OperatorStore } from '../../ports/operator-store.ts'
import type { AuditEntry } from '../../ports/store.ts'
import type { Hasher } from '../../ports/vault.ts'
import type { Attempt, AttemptLimits } from '../authenticate.ts'
import type { RequestOrigin } from '../caller.ts'

export const CODE_MS = 600_000
export const SESSION_MS = 12 * 3_600_000
/** A session that is not used for this long has ended. */
export const IDLE_MS = 1_800_000
/** The name under which new codes are announced on the bus. Attempts have none: nobody says whose code it is. */
export const CODES = 'operator code'
const LENGTH_MAX = 128

/** A proven operator. */
export interface OperatorCaller extends RequestOrigin {
  readonly operator: string
  readonly scopes: readonly OperatorScope[]
  /** Null: a key. */
  readonly session: OperatorSession | null
}

/** Limits of wrong attempts by one way in. */
export interface OperatorLimits extends AttemptLimits {
  /** Called instead of `undecided` if a look-up was begun and failed: it cost what a wrong attempt does, so its sender is slowed down. */
  unanswered(attempt: Attempt): void
}

/** Limits of wrong attempts, apart for each way in, and of the look-ups under way by all of them. */
export interface OperatorAttempts {
  readonly code: OperatorLimits
  readonly session: OperatorLimits
  readonly key: OperatorLimits
  readonly lookUps: LookUps
}

/** The look-ups that are under way. */
export interface LookUps {
  /** @throws ServiceError rate_limited if there are too many, and nothing was looked up; what `look` throws */
  run<Found>(look: () => Promise<Found>): Promise<Found>
}

export interface OperatorAccessDeps {
  readonly operators: OperatorStore
  readonly hasher: Pick<Hasher, 'hash'>
  readonly ids: Ids
  readonly clock: Pick<Clock, 'now'>
  readonly attempts: OperatorAttempts
}

/** What a look-up of a secret stands on. */
interface Looking extends Pick<OperatorAccessDeps, 'hasher'> {
  readonly limits: OperatorLimits
  readonly lookUps: LookUps
}

/** One message for every cause, so that it discloses nothing. */
const INVALID = 'The operator’s credentials are missing, invalid or expired. Log in with a new code: npm run cli -- operator link'

export function operatorUnknown(): ServiceError {
  return new ServiceError('credentials_invalid', INVALID)
}

/** Exchanges the code for a session and its secret, which is returned only here. @throws ServiceError credentials_invalid, rate_limited */
export async function exchangeCode(
  deps: OperatorAccessDeps,
  code: string,
  from: RequestOrigin
): Promise<{ readonly session: OperatorSession; readonly secret: string }> {
  const { ids, hasher, clock, operators, attempts } = deps
  const secret = ids.secret('os_')
  const sessionId = ids.uuid<OperatorSessionId>()
  const made = { sessionId, secretHash: hasher.hash(secret), lifetimeMs: SESSION_MS }
  const auditOf = (operator: string) => operatorAudit(clock, { ...from, operator }, 'operator.login', sessionId)
  const looking = { hasher, limits: attempts.code, lookUps: attempts.lookUps }
  const session = await proven(looking, code, from, codeHash => operators.exchange(codeHash, made, auditOf))
  return { session, secret }
}

/** The operator whose session has this secret. @throws ServiceError credentials_invalid, rate_limited */
export async function operatorOfSession(deps: OperatorAccessDeps, secret: string, from: RequestOrigin): Promise<OperatorCaller> {
  const { hasher, attempts, operators } = deps
  const looking = { hasher, limits: attempts.session, lookUps: attempts.lookUps }
  const session = await proven(looking, secret, from, hash => operators.useSession(hash, IDLE_MS))
  return { ...from, operator: session.operator, scopes: session.scopes, session }
}

/** The operator's program whose key this is. @throws ServiceError credentials_invalid, rate_limited */
export async function operatorOfKey(
  deps: Pick<OperatorAccessDeps, 'hasher'> & {
    readonly operators: Pick<OperatorStore, 'useKey'>
    readonly attempts: Pick<OperatorAttempts, 'key' | 'lookUps'>
  },
  secret: string,
  from: RequestOrigin
): Promise<OperatorCaller> {
  const { hasher, attempts, operators } = deps
  const looking = { hasher, limits: attempts.key, lookUps: attempts.lookUps }
  const key = await proven(looking, secret, from, hash => operators.useKey(hash))
  return { ...from, operator: `${key.createdBy} (key ${key.name})`, scopes: key.scopes, session: null }
}

/** @throws ServiceError scope_missing */
export function demandOperatorScope({ scopes }: OperatorCaller, scope: OperatorScope): void {
  if (scopes.includes(scope)) return
  throw new ServiceError('scope_missing', `This needs the scope ${scope}; yours are ${scopes.join(', ')}.`)
}

/** The audit entry of what an operator does by a request. */
export function operatorAudit(
  clock: Pick<Clock, 'now'>,
  { operator, ip, requestId }: RequestOrigin & { readonly operator: string },
  action: string,
  target: string,
  detail: AuditEntry['detail'] = {},
  result: AuditEntry['result'] = 'ok'
): AuditEntry {
  return { at: clock.now(), actor: 'operator', action, target, result, ip, requestId, detail: { by: operator, ...detail } }
}

/** Looks a secret up, unless too many wrong ones came from its address, or too many are being looked up. */
async function proven<Found>(
  { hasher, limits, lookUps }: Looking,
  secret: string,
  { ip }: RequestOrigin,
  look: (secretHash: string) => Promise<Found | null>
): Promise<Found> {
  if (secret.length > LENGTH_MAX) throw operatorUnknown()
  const attempt: Attempt = { of: 'key', address: ip, name: null, secretHash: hasher.hash(secret) }
  limits.demandCalm(attempt)
  try {
    const found = await lookUps.run(() =>
      look(attempt.secretHash).catch((cause: unknown) => {
        limits.unanswered(attempt)
        throw cause
      })
    )
    if (found !== null) {
      limits.proved(attempt)
      return found
    }
  } catch (cause) {
    // Where no look-up was begun, its sender is not slowed down; otherwise it is decided already, and this does nothing.
    limits.undecided(attempt)
    throw cause
  }
  limits.failed(attempt)
  throw operatorUnknown()
}
