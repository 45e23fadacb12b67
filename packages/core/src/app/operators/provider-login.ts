// A login by a provider becomes a session like one by a code: the same rows, another origin.
import { ServiceError } from '../../domain/errors.ts'
import type { OperatorSessionId } from '../../domain/ids.ts'
import { shown } from '../../domain/malformed.ts'
import { grantedScopes, type OperatorGrant, type OperatorSession } from '../../domain/operator.ts'
import type { OperatorStore } from '../../ports/operator-store.ts'
import type { Hasher } from '../../ports/vault.ts'
import type { RequestOrigin } from '../caller.ts'
import { type OperatorAccessDeps, operatorAudit, SESSION_MS } from './access.ts'

/** From the start of a login to its completion. */
export const LOGIN_MS = 600_000
/** Longer than any login can be completed, also where the clocks of two nodes differ by minutes. */
const NOTE_KEPT_MS = 3 * LOGIN_MS
/** Completed logins are kept for half an hour. Operators are few; addresses that try more are slowed down before. */
const NOTES_MAX = 10_000

/** Somebody whom the provider has proven. */
export interface ProvenIdentity {
  /** Of the provider. */
  readonly host: string
  /** The provider's own, lasting id of the person. */
  readonly subject: string
  /** What the claim that names the operator has. */
  readonly name: string
  /** The claim that scopes are granted by, and what it has. */
  readonly grantClaim: string
  readonly values: readonly string[]
}

/** Uses the state up. @throws ServiceError credentials_invalid if it was used before; rate_limited */
export async function useLoginOnce(
  { operators, hasher }: { readonly operators: Pick<OperatorStore, 'useLogin'>; readonly hasher: Pick<Hasher, 'hash'> },
  state: string
): Promise<void> {
  const use = await operators.useLogin(hasher.hash(state), NOTE_KEPT_MS, NOTES_MAX)
  if (use === 'again') throw new ServiceError('credentials_invalid', 'This login was completed already. Log in again.')
  if (use === 'full')
    throw new ServiceError('rate_limited', 'Too many logins were completed lately. Try again in a minute, or log in with a code.', {
      retryAfterSeconds: 60
    })
}

/**
 * Creates the session of a person who has a grant, and its secret, which is returned only here.
 * @throws ServiceError scope_missing for everybody else, with what to ask the administrator
 */
export async function enterProven(
  { operators, ids, hasher, clock }: Omit<OperatorAccessDeps, 'attempts'>,
  identity: ProvenIdentity,
  grants: readonly OperatorGrant[],
  from: RequestOrigin
): Promise<{ readonly session: OperatorSession; readonly secret: string }> {
  const scopes = grantedScopes(grants, identity.values)
  if (scopes.length === 0) throw unknownHere(identity)
  const secret = ids.secret('os_')
  const sessionId = ids.uuid<OperatorSessionId>()
  const operator = `${identity.name} (${identity.host})`
  const detail = { origin: 'oidc', subject: identity.subject, scopes: scopes.join(' ') }
  const session = await operators.createSession(
    { sessionId, secretHash: hasher.hash(secret), lifetimeMs: SESSION_MS },
    { operator, scopes },
    operatorAudit(clock, { ...from, operator }, 'operator.login', sessionId, detail)
  )
  return { session, secret }
}

function unknownHere({ host, name, grantClaim, values }: ProvenIdentity): ServiceError {
  const found = values.length === 0 ? 'is empty or missing' : `is ${shown(values.length === 1 ? values[0] : values)}`
  const message = `${host} knows you as ${shown(name)}, but no scope is granted to you here: your claim ${grantClaim} ${found}. Ask the administrator of this service to add a value of it to TRUNKLINE_OIDC_GRANTS.`
  return new ServiceError('scope_missing', message)
}
