import { CODE_MS, CODES, IDLE_MS } from '@trunkline/core/app/operators/access'
import { type OperatorKeyId, type OperatorSessionId, parseUuid } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type OperatorKey, type OperatorSession, parseOperatorScopes } from '@trunkline/core/domain/operator'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { AdminRefused, type NewOperatorKey, type OperatorLink, type Run } from './operations.ts'

const SESSIONS_MAX = 1_000
/** Enough for a team's programs, few enough to review. */
const KEYS_MAX = 100

/** Makes a code that becomes a session once. The code is in the output and nowhere else. @throws Malformed */
export async function makeLink(
  deps: Pick<AdminDeps, 'ids' | 'clock' | 'hasher' | 'bus' | 'publicUrl'> & { readonly store: Pick<AdminDeps['store'], 'operators'> },
  { scopes: given }: { readonly scopes: readonly string[] },
  run: Run
): Promise<OperatorLink> {
  const scopes = parseOperatorScopes(given)
  const code = deps.ids.secret('oc_')
  const entry = operatorEntry(deps.clock.now(), run, 'operator.link', 'admin', { scopes: scopes.join(' ') })
  const made = { codeHash: deps.hasher.hash(code), operator: run.by, scopes, lifetimeMs: CODE_MS }
  const expiresAt = await deps.store.operators.createCode(made, entry)
  // Others of its address may have failed too often: it is looked up all the same.
  deps.bus?.publish({ type: 'secret_issued', of: 'key', name: CODES, secretHash: made.codeHash })
  return { code, url: deps.publicUrl === null ? null : `${deps.publicUrl}/console/#code=${code}`, scopes, expiresAt }
}

export function listOperatorSessions({ store }: AdminDeps): Promise<readonly OperatorSession[]> {
  return store.operators.sessions(IDLE_MS, SESSIONS_MAX)
}

/** @throws AdminRefused if there is no such session. */
export async function endOperatorSession({ store, clock }: AdminDeps, { sessionId }: { readonly sessionId: string }, run: Run) {
  const entry = operatorEntry(clock.now(), run, 'operator.end_session', sessionId)
  if (await store.operators.endSession(parseUuid<OperatorSessionId>(sessionId, 'session_id'), entry)) return { sessionId }
  throw new AdminRefused('There is no such session; it may have ended. List them with: npm run cli -- operator sessions')
}

/** The secret is in the output and nowhere else. @throws AdminRefused, Malformed */
export async function createOperatorKey(deps: AdminDeps, { name, scopes: given, expiresAt }: NewOperatorKey, run: Run) {
  const scopes = parseOperatorScopes(given)
  const now = deps.clock.now()
  if (expiresAt !== null && expiresAt <= now) throw new Malformed('expires', 'a time in the future', expiresAt)
  const secret = deps.ids.secret('ok_')
  const key: OperatorKey = {
    keyId: deps.ids.uuid<OperatorKeyId>(),
    ...{ name, scopes, createdBy: run.by, createdAt: now, lastUsedAt: null, expiresAt }
  }
  const entry = operatorEntry(now, run, 'operator.key_create', key.keyId, { name, scopes: scopes.join(' '), expires_at: expiresAt })
  if (!(await deps.store.operators.createKey(key, deps.hasher.hash(secret), KEYS_MAX, entry)))
    throw new AdminRefused(`There are ${KEYS_MAX} keys of operators, the maximum. Revoke one first.`)
  return { ...key, secret }
}

export function listOperatorKeys({ store }: AdminDeps): Promise<readonly OperatorKey[]> {
  return store.operators.keys()
}

/** @throws AdminRefused if there is no such key. */
export async function revokeOperatorKey({ store, clock }: AdminDeps, { keyId }: { readonly keyId: string }, run: Run) {
  const entry = operatorEntry(clock.now(), run, 'operator.key_revoke', keyId)
  if (await store.operators.revokeKey(parseUuid<OperatorKeyId>(keyId, 'key_id'), entry)) return { keyId }
  throw new AdminRefused('There is no such key. List them with: npm run cli -- operator key list')
}
