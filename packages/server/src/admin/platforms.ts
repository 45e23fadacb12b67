import { checkRedirectUrl } from '@trunkline/core/app/connect/redirect-url'
import { setPlatformDisabled as disablePlatform } from '@trunkline/core/app/operators/disabling'
import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { type AdminDeps, entriesOf, NO_BUS, operatorEntry } from './deps.ts'
import { NAME_LENGTH_MAX, printable } from './inputs.ts'
import {
  AdminRefused,
  asRefusal,
  type EditPlatform,
  type EditRedirects,
  type NewPlatform,
  type PlatformView,
  REDIRECTS_MAX,
  type Run
} from './operations.ts'

/** The prefix and 128 random bits. Public, and therefore shorter than a secret. */
export const CLIENT_ID_LENGTH = 25

/**
 * The secret is in the output and nowhere else; only its hash is stored.
 * @throws AdminRefused naming an invalid redirect address; Malformed for an unprintable name.
 */
export async function createPlatform(deps: AdminDeps, { name, redirects, claims, color = null, appUrl = null }: NewPlatform, run: Run) {
  printable(name, 'name', NAME_LENGTH_MAX)
  for (const [index, redirect] of redirects.entries()) checkAllowed(redirect, `redirect ${index + 1}`)
  if (appUrl !== null) checkAllowed(appUrl, 'app_url')
  const brand = { color, appUrl }
  const clientSecret = deps.ids.secret('sk_')
  const platform: Platform = {
    platformId: deps.ids.uuid<PlatformId>(),
    clientId: deps.ids.secret('pk_').slice(0, CLIENT_ID_LENGTH),
    name,
    redirectAllowList: [...new Set(redirects)],
    claims,
    createdAt: deps.clock.now()
  }
  const entry = operatorEntry(platform.createdAt, run, 'platform.create', platform.platformId, {
    name,
    redirects: redirects.length,
    claims
  })
  const secretHash = deps.hasher.hash(clientSecret)
  await deps.store.platforms.create(platform, secretHash, entry, brand)
  deps.bus?.publish({ type: 'secret_issued', of: 'key', name: platform.clientId, secretHash })
  return { ...view(platform, brand, null), clientSecret }
}

export async function listPlatforms({ store }: AdminDeps): Promise<readonly PlatformView[]> {
  const disabled = await store.platforms.disabled()
  const platforms = await store.platforms.list()
  return Promise.all(
    platforms.map(async platform => view(platform, await brandOf({ store }, platform), disabled.get(platform.platformId) ?? null))
  )
}

/** Changes how the portal shows a platform, from the next page on. @throws AdminRefused, Malformed; then nothing was changed. */
export async function editPlatform(deps: AdminDeps, { platform: wanted, ...change }: EditPlatform, run: Run): Promise<PlatformView> {
  const platform = await platformNamed(deps, wanted)
  const { platformId } = platform
  const brand = await brandOf(deps, platform)
  const disabledAt = (await deps.store.platforms.disabled()).get(platformId) ?? null
  if (Object.keys(change).length === 0) return view(platform, brand, disabledAt)
  const next = { name: platform.name, ...brand, ...change }
  printable(next.name, 'name', NAME_LENGTH_MAX)
  if (next.appUrl !== null) checkAllowed(next.appUrl, 'app_url')
  const entry = operatorEntry(deps.clock.now(), run, 'platform.edit', platformId, { ...change })
  if (!(await deps.store.platforms.edit(platformId, next, entry))) throw unknownPlatform(wanted)
  deps.bus?.publish({ type: 'platform_secret_changed', platformId })
  return view({ ...platform, name: next.name }, next, disabledAt)
}

async function brandOf({ store }: Pick<AdminDeps, 'store'>, { platformId }: Platform): Promise<PlatformBrand> {
  return (await store.platforms.brandOf(platformId)) ?? { color: null, appUrl: null }
}

/** Disables a platform, deletes its users' tokens and open links, and ends all sessions; or enables it again. @throws AdminRefused */
export async function setPlatformDisabled(deps: AdminDeps, wanted: string, isDisabled: boolean, run: Run): Promise<PlatformView> {
  const platform = await platformNamed(deps, wanted)
  const { store, clock, bus } = deps
  const change = () => disablePlatform({ store, clock, bus: bus ?? NO_BUS }, platform.platformId, isDisabled, entriesOf(deps, run))
  const disabledAt = await asRefusal(change)
  return view(platform, await brandOf(deps, platform), disabledAt)
}

/** Finds a platform by its id, or by the client id of its first key. @throws AdminRefused if it is unknown. */
export async function platformNamed({ store }: AdminDeps, wanted: string): Promise<Platform> {
  const platform = (await store.platforms.list()).find(({ clientId, platformId }) => wanted === clientId || wanted === platformId)
  if (platform === undefined) throw unknownPlatform(wanted)
  return platform
}

function unknownPlatform(wanted: string): AdminRefused {
  return new AdminRefused(`There is no platform ${JSON.stringify(wanted)}. List platforms with: npm run cli -- platform list`)
}

/** Applies to links that are created from now on. @throws AdminRefused; then nothing was changed. */
export async function editRedirects(deps: AdminDeps, { platform: wanted, add, remove }: EditRedirects, run: Run): Promise<PlatformView> {
  const platform = await platformNamed(deps, wanted)
  const { platformId, redirectAllowList: before } = platform
  const disabledAt = (await deps.store.platforms.disabled()).get(platformId) ?? null
  const brand = await brandOf(deps, platform)
  if (add.length === 0 && remove.length === 0) return view(platform, brand, disabledAt)
  for (const [index, redirect] of add.entries()) checkAllowed(redirect, `redirect ${index + 1}`)
  const stray = remove.find(redirect => !before.includes(redirect))
  if (stray !== undefined)
    throw new AdminRefused(`${JSON.stringify(stray)} is not on the list. Addresses are compared exactly; see: platform redirects list`)
  const next = [...new Set([...before.filter(redirect => !remove.includes(redirect)), ...add])]
  if (next.length === 0)
    throw new AdminRefused('This is the last address on the list, and an empty list allows any address. Add the new address first.')
  if (next.length > REDIRECTS_MAX) throw new AdminRefused(`A platform has at most ${REDIRECTS_MAX} redirect addresses; remove some first.`)
  const entry = operatorEntry(deps.clock.now(), run, 'platform.redirects', platformId, { added: add.join(' '), removed: remove.join(' ') })
  if (!(await deps.store.platforms.replaceRedirects(platformId, before, next, entry)))
    throw new AdminRefused('Another operator changed the list at the same time. Check it, and try again.')
  deps.bus?.publish({ type: 'platform_secret_changed', platformId })
  return view({ ...platform, redirectAllowList: next }, brand, disabledAt)
}

function checkAllowed(address: string, what: string): void {
  try {
    checkRedirectUrl(address, [], what)
  } catch (cause) {
    throw cause instanceof ServiceError ? new AdminRefused(cause.message, { cause }) : cause
  }
}

function view(
  { platformId, clientId, name, redirectAllowList, claims, createdAt }: Platform,
  { color, appUrl }: PlatformBrand,
  disabledAt: Timestamp | null
): PlatformView {
  return { platformId, clientId, name, redirects: redirectAllowList, claims, color, appUrl, createdAt, disabledAt }
}
