import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { KeyView } from '../admin/operations.ts'
import { aligned, type Common, type Console, outJson, shownTime } from './console.ts'
import { perform } from './operator.ts'

interface NewKeyOptions extends Common {
  readonly name: string
  readonly scope: readonly string[]
  readonly address: readonly string[]
  readonly expires?: Timestamp
}

export async function createKey(console: Console, platform: string, options: NewKeyOptions): Promise<void> {
  const { name, scope, address, expires = null, json } = options
  const made = await perform(console, 'key.create', { platform, name, scopes: scope, addresses: address, expiresAt: expires })
  if (json) return outJson(console, wire(made))
  const facts = aligned([
    ['  client_id', made.clientId],
    ['  client_secret', made.clientSecret],
    ['  scopes', made.scopes.join(' ')],
    ['  addresses', made.addresses.length === 0 ? 'any' : made.addresses.join(' ')],
    ['  expires', made.expiresAt === null ? 'never' : shownTime(made.expiresAt)]
  ])
  console.out(
    `Key ${JSON.stringify(name)} was created.\n\n${facts}\nStore the secret now: it is shown only this once, and the service keeps only its hash.\n`
  )
}

export async function listKeys(console: Console, platform: string, { json }: Common): Promise<void> {
  const keys = await perform(console, 'key.list', { platform })
  if (json) return outJson(console, keys.map(wire))
  const head = ['client_id', 'scopes', 'addresses', 'created', 'last used', 'expires', 'state', 'name']
  const rows = keys.map(({ clientId, scopes, addresses, createdAt, lastUsedAt, expiresAt, disabledAt, name }) => [
    clientId,
    scopes.join(' '),
    addresses.length === 0 ? 'any' : addresses.join(' '),
    shownTime(createdAt),
    lastUsedAt === null ? 'never' : shownTime(lastUsedAt),
    expiresAt === null ? 'never' : shownTime(expiresAt),
    disabledAt === null ? 'enabled' : 'disabled',
    name
  ])
  console.out(aligned([head, ...rows]))
}

export async function disableKey(console: Console, key: string, { json }: Common): Promise<void> {
  const disabled = await perform(console, 'key.disable', { key })
  if (json) return outJson(console, wire(disabled))
  console.out(`Key ${JSON.stringify(disabled.name)} is disabled. Tokens issued with it were deleted, and its sessions end now.\n`)
}

export async function enableKey(console: Console, key: string, { json }: Common): Promise<void> {
  const enabled = await perform(console, 'key.enable', { key })
  if (json) return outJson(console, wire(enabled))
  console.out(`Key ${JSON.stringify(enabled.name)} is enabled again.\n`)
}

export async function revokeKey(console: Console, key: string, { json }: Common): Promise<void> {
  const revoked = await perform(console, 'key.revoke', { key })
  if (json) return outJson(console, wire(revoked))
  console.out(`Key ${JSON.stringify(revoked.name)} was revoked. Tokens issued with it were deleted, and its sessions end now.\n`)
}

function wire({ keyId, clientId, ...key }: KeyView & { readonly clientSecret?: string }): object {
  return {
    key_id: keyId,
    client_id: clientId,
    ...(key.clientSecret !== undefined && { client_secret: key.clientSecret }),
    name: key.name,
    scopes: key.scopes,
    addresses: key.addresses,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    disabled_at: key.disabledAt
  }
}
