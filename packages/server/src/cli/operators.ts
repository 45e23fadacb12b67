import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { aligned, type Common, type Console, outJson, shownTime } from './console.ts'
import { perform } from './operator.ts'

interface Scoped extends Common {
  readonly scope: readonly string[]
}

/** Prints a code that becomes a session once. */
export async function linkOperator(console: Console, { scope, json }: Scoped): Promise<void> {
  const { code, url, scopes, expiresAt } = await perform(console, 'operator.link', { scopes: scope })
  if (json) return outJson(console, { code, url, scopes, expires_at: expiresAt })
  const facts = aligned([
    ...(url === null ? [] : [['  link', url]]),
    ['  code', code],
    ['  scopes', scopes.join(' ')],
    ['  expires', shownTime(expiresAt)]
  ])
  const use =
    url === null ? 'Enter the code at /console of the service. It works once.' : 'The link opens the console. Its code works once.'
  console.out(`${use}\n\n${facts}`)
}

export async function listSessions(console: Console, { json }: Common): Promise<void> {
  const sessions = await perform(console, 'operator.sessions', {})
  if (json)
    return outJson(
      console,
      sessions.map(({ sessionId, operator, scopes, createdAt, lastUsedAt, expiresAt }) => ({
        session_id: sessionId,
        ...{ operator, scopes, created_at: createdAt, last_used_at: lastUsedAt, expires_at: expiresAt }
      }))
    )
  const head = ['session_id', 'operator', 'scopes', 'created', 'last used', 'expires']
  const rows = sessions.map(({ sessionId, operator, scopes, createdAt, lastUsedAt, expiresAt }) => [
    sessionId,
    operator,
    scopes.join(' '),
    ...[createdAt, lastUsedAt, expiresAt].map(shownTime)
  ])
  console.out(aligned([head, ...rows]))
}

export async function endSession(console: Console, sessionId: string, { json }: Common): Promise<void> {
  await perform(console, 'operator.end_session', { sessionId })
  if (json) return outJson(console, { session_id: sessionId })
  console.out(`Session ${sessionId} has ended.\n`)
}

export async function createKey(
  console: Console,
  { name, scope, expires, json }: Scoped & { readonly name: string; readonly expires?: Timestamp }
): Promise<void> {
  const made = await perform(console, 'operator.key_create', { name, scopes: scope, expiresAt: expires ?? null })
  const { keyId, secret, scopes, expiresAt } = made
  if (json) return outJson(console, { key_id: keyId, key: secret, name, scopes, expires_at: expiresAt })
  const facts = aligned([
    ['  key_id', keyId],
    ['  key', secret],
    ['  scopes', scopes.join(' ')],
    ['  expires', expiresAt === null ? 'never' : shownTime(expiresAt)]
  ])
  console.out(
    `Key ${JSON.stringify(name)} was created. Send it as "authorization: Bearer …".\n\n${facts}\nStore it now: it is shown only this once, and the service keeps only its hash.\n`
  )
}

export async function listKeys(console: Console, { json }: Common): Promise<void> {
  const keys = await perform(console, 'operator.key_list', {})
  if (json)
    return outJson(
      console,
      keys.map(({ keyId, name, scopes, createdBy, createdAt, lastUsedAt, expiresAt }) => ({
        key_id: keyId,
        ...{ name, scopes, created_by: createdBy, created_at: createdAt, last_used_at: lastUsedAt, expires_at: expiresAt }
      }))
    )
  const head = ['key_id', 'scopes', 'created by', 'created', 'last used', 'expires', 'name']
  const rows = keys.map(({ keyId, name, scopes, createdBy, createdAt, lastUsedAt, expiresAt }) => [
    keyId,
    scopes.join(' '),
    createdBy,
    shownTime(createdAt),
    lastUsedAt === null ? 'never' : shownTime(lastUsedAt),
    expiresAt === null ? 'never' : shownTime(expiresAt),
    name
  ])
  console.out(aligned([head, ...rows]))
}

export async function revokeKey(console: Console, keyId: string, { json }: Common): Promise<void> {
  await perform(console, 'operator.key_revoke', { keyId })
  if (json) return outJson(console, { key_id: keyId })
  console.out(`Key ${keyId} was revoked.\n`)
}
