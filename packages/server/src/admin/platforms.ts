import { existsSync, readFileSync } from 'node:fs'
import { checkRedirectUrl } from '@trunkline/core/app/connect/redirect-url'
import type { Platform } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId } from '@trunkline/core/domain/ids'
import { writeDurably } from '@trunkline/files/durable'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { AdminRefused, type NewPlatform, type PlatformView, type Run } from './operations.ts'

/** 128 random bits behind the prefix: public, so shorter than a secret. */
const CLIENT_ID_LENGTH = 25

/** The secret is in the answer and nowhere else: only its hash is kept. @throws AdminRefused naming a redirect that cannot be allowed. */
export async function createPlatform(deps: AdminDeps, { name, redirects }: NewPlatform, run: Run) {
  for (const [index, redirect] of redirects.entries()) checkAllowed(redirect, index)
  const clientSecret = deps.ids.secret('sk_')
  const platform: Platform = {
    platformId: deps.ids.uuid<PlatformId>(),
    clientId: deps.ids.secret('pk_').slice(0, CLIENT_ID_LENGTH),
    name,
    redirectAllowList: [...new Set(redirects)],
    createdAt: deps.clock.now()
  }
  const entry = operatorEntry(platform.createdAt, run, 'platform.create', platform.platformId, { name, redirects: redirects.length })
  await deps.store.platforms.create(platform, deps.hasher.hash(clientSecret), entry)
  return { ...view(platform), clientSecret }
}

export async function listPlatforms({ store }: AdminDeps): Promise<readonly PlatformView[]> {
  return (await store.platforms.list()).map(view)
}

/** Ends the old secret: at once in the store, and within two seconds on every node that remembers it. @throws AdminRefused when unknown. */
export async function rotatePlatformSecret(deps: AdminDeps, { platform: wanted }: { readonly platform: string }, run: Run) {
  const platform = (await deps.store.platforms.list()).find(({ clientId, platformId }) => wanted === clientId || wanted === platformId)
  const clientSecret = deps.ids.secret('sk_')
  const entry = operatorEntry(deps.clock.now(), run, 'platform.rotate_secret', platform?.platformId ?? wanted)
  if (platform === undefined || !(await deps.store.platforms.replaceSecret(platform.platformId, deps.hasher.hash(clientSecret), entry))) {
    throw new AdminRefused(`There is no platform ${JSON.stringify(wanted)}. See them with: npm run cli -- platform list`)
  }
  deps.bus?.publish({ type: 'platform_secret_changed', platformId: platform.platformId })
  if (deps.demoFile !== null) refreshDemoFile(deps.demoFile, platform.clientId, clientSecret)
  return { ...view(platform), clientSecret }
}

function checkAllowed(redirect: string, index: number): void {
  try {
    checkRedirectUrl(redirect, [], `redirect ${index + 1}`)
  } catch (cause) {
    throw cause instanceof ServiceError ? new AdminRefused(cause.message, { cause }) : cause
  }
}

// The demo platform's secret is the one that is kept, for newcomers: a stale one would greet them with a 401.
function refreshDemoFile(path: string, clientId: string, clientSecret: string): void {
  if (!existsSync(path)) return
  const demo: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (typeof demo !== 'object' || demo === null || !('client_id' in demo) || demo.client_id !== clientId) return
  writeDurably(path, `${JSON.stringify({ ...demo, client_secret: clientSecret }, null, 2)}\n`)
}

function view({ platformId, clientId, name, redirectAllowList, createdAt }: Platform): PlatformView {
  return { platformId, clientId, name, redirects: redirectAllowList, createdAt }
}
