import type { Platform } from '@trunkline/core/domain/account'
import type { KeyId } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type PlatformKey, parseScopes } from '@trunkline/core/domain/platform-key'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { AddressList } from '../auth/address-list.ts'
import { DemoFile, settledDemo } from '../ops/demo-platform.ts'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { AdminRefused, type KeyView, type NewKey, type RotateSecret, type Run } from './operations.ts'
import { CLIENT_ID_LENGTH, platformNamed } from './platforms.ts'

/** The most keys of one platform: enough for a team, few enough to review. */
const KEYS_MAX = 100

/** The secret is in the output and nowhere else. @throws AdminRefused, Malformed */
export async function createKey(deps: AdminDeps, { platform: wanted, name, scopes, addresses, expiresAt }: NewKey, run: Run) {
  const platform = await platformNamed(deps, wanted)
  const now = deps.clock.now()
  new AddressList(addresses)
  if (expiresAt !== null && expiresAt <= now) throw new Malformed('expires', 'a time in the future', expiresAt)
  const present = await deps.store.platformKeys.list(platform.platformId)
  if (present.length >= KEYS_MAX) throw new AdminRefused(`This platform has ${KEYS_MAX} keys, the maximum. Revoke one first.`)
  const clientSecret = deps.ids.secret('sk_')
  const key: PlatformKey = {
    keyId: deps.ids.uuid<KeyId>(),
    platformId: platform.platformId,
    clientId: deps.ids.secret('pk_').slice(0, CLIENT_ID_LENGTH),
    name,
    scopes: parseScopes(scopes),
    addresses: [...new Set(addresses)],
    createdAt: now,
    expiresAt,
    ...{ lastUsedAt: null, disabledAt: null }
  }
  const detail = { client_id: key.clientId, name, scopes: key.scopes.join(' '), addresses: key.addresses.join(' '), expires_at: expiresAt }
  const secretHash = deps.hasher.hash(clientSecret)
  await deps.store.platformKeys.create(key, secretHash, operatorEntry(now, run, 'key.create', key.keyId, detail))
  deps.bus?.publish({ type: 'secret_issued', of: 'key', name: key.clientId, secretHash })
  return { ...viewOf(key), clientSecret }
}

export async function listKeys(deps: AdminDeps, { platform }: { readonly platform: string }): Promise<readonly KeyView[]> {
  const { platformId } = await platformNamed(deps, platform)
  return (await deps.store.platformKeys.list(platformId)).map(viewOf)
}

/** Gives a key a new secret. The old one still works for `overlapSeconds`. @throws AdminRefused if the key is unknown. */
export async function rotateSecret(deps: AdminDeps, { platform: wanted, overlapSeconds }: RotateSecret, run: Run) {
  const { key, platform } = await keyNamed(deps, wanted)
  const clientSecret = deps.ids.secret('sk_')
  const now = deps.clock.now()
  const previousUntil = overlapSeconds === 0 ? null : timestampOfMs(epochMs(now) + overlapSeconds * 1_000)
  const target = key.clientId === platform.clientId ? platform.platformId : key.keyId
  const entry = operatorEntry(now, run, 'platform.rotate_secret', target, { client_id: key.clientId, previous_until: previousUntil })
  const secretHash = deps.hasher.hash(clientSecret)
  const demo = deps.demoFile === null ? null : new DemoFile(deps.demoFile)
  // An earlier rotation may have announced a secret in the file and committed it without confirming it in the file.
  if (demo !== null) await settledDemo(deps, demo)
  // The file is the only place with the demo platform's secret, so the new secret is written there before it takes effect.
  const isDemo = demo?.announce(key.clientId, clientSecret) ?? false
  await demand(deps.store.platformKeys.replaceSecret(key.keyId, secretHash, previousUntil, entry), wanted)
  deps.bus?.publish({ type: 'platform_secret_changed', platformId: platform.platformId })
  deps.bus?.publish({ type: 'secret_issued', of: 'key', name: key.clientId, secretHash })
  if (isDemo) confirmDemo(deps, demo)
  const { name, redirectAllowList: redirects } = platform
  return { ...viewOf(key), platformId: platform.platformId, platformName: name, redirects, clientSecret, previousUntil }
}

// The next start corrects a file that could not be written. The operator receives the secret in any case.
function confirmDemo({ log }: AdminDeps, demo: DemoFile | null): void {
  try {
    demo?.settle(true)
  } catch (cause) {
    log.warn('the demo platform has a new secret, but its file will not show it as current until the next start', { cause })
  }
}

/** Disables a key at once and deletes the tokens issued with it, or enables it again. @throws AdminRefused if the key is unknown. */
export async function setKeyDisabled(deps: AdminDeps, wanted: string, isDisabled: boolean, run: Run): Promise<KeyView> {
  const { key, platform } = await keyNamed(deps, wanted)
  const disabledAt = isDisabled ? deps.clock.now() : null
  const action = isDisabled ? 'key.disable' : 'key.enable'
  const entry = operatorEntry(deps.clock.now(), run, action, key.keyId, { client_id: key.clientId })
  await demand(deps.store.platformKeys.setDisabled(key.keyId, disabledAt, entry), wanted)
  publishEnded(deps, platform, isDisabled ? key.keyId : null)
  return { ...viewOf(key), disabledAt }
}

/** Revokes a key permanently. @throws AdminRefused if the key is unknown, or is the platform's first. */
export async function revokeKey(deps: AdminDeps, { key: wanted }: { readonly key: string }, run: Run): Promise<KeyView> {
  const { key, platform } = await keyNamed(deps, wanted)
  if (key.clientId === platform.clientId)
    throw new AdminRefused(
      'This is the platform’s first key, whose client_id is also that of the platform. It can be disabled, but not revoked.'
    )
  const entry = operatorEntry(deps.clock.now(), run, 'key.revoke', key.keyId, { client_id: key.clientId })
  await demand(deps.store.platformKeys.revoke(key.keyId, entry), wanted)
  publishEnded(deps, platform, key.keyId)
  return viewOf(key)
}

function publishEnded({ bus }: AdminDeps, { platformId }: Platform, keyId: KeyId | null): void {
  bus?.publish(keyId === null ? { type: 'platform_secret_changed', platformId } : { type: 'platform_access_ended', platformId, keyId })
}

/** Finds a key by its client id. A platform's id stands for its first key. @throws AdminRefused */
async function keyNamed(deps: AdminDeps, wanted: string) {
  const platform = (await deps.store.platforms.list()).find(({ platformId }) => platformId === wanted)
  const known = await deps.store.platforms.findByClientId(platform?.clientId ?? wanted)
  if (known === null) throw unknownKey(wanted)
  return known
}

async function demand(done: Promise<boolean>, wanted: string): Promise<void> {
  if (!(await done)) throw unknownKey(wanted)
}

function unknownKey(wanted: string): AdminRefused {
  return new AdminRefused(`There is no key ${JSON.stringify(wanted)}. List platforms with: npm run cli -- platform list`)
}

function viewOf({ keyId, clientId, name, scopes, addresses, createdAt, lastUsedAt, expiresAt, disabledAt }: PlatformKey): KeyView {
  return { keyId, clientId, name, scopes, addresses, createdAt, lastUsedAt, expiresAt, disabledAt }
}
