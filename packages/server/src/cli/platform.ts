import type { EditPlatform, PlatformView } from '../admin/operations.ts'
import { letterOn, parseColor } from '../ops/color.ts'
import { aligned, type Common, type Console, outJson, shownTime } from './console.ts'
import { perform } from './operator.ts'

export async function createPlatform(
  console: Console,
  {
    name,
    redirect,
    claim,
    json,
    ...look
  }: Common & Look & { readonly name: string; readonly redirect: readonly string[]; readonly claim: 'on' | 'off' }
): Promise<void> {
  const made = await perform(console, 'platform.create', { name, redirects: redirect, claims: claim === 'on', ...brandOf(look) })
  if (json) return outJson(console, wire(made))
  console.out(`Platform ${JSON.stringify(name)} was created.\n\n${credentials(made)}`)
}

interface Look {
  /** `none` removes it. */
  readonly color?: string
  readonly appUrl?: string
}

export async function editPlatform(
  console: Console,
  platform: string,
  { name, json, ...look }: Common & Look & { readonly name?: string }
): Promise<void> {
  const edited = await perform(console, 'platform.edit', { platform, ...(name === undefined ? {} : { name }), ...brandOf(look) })
  if (json) return outJson(console, wire(edited))
  const { color, appUrl } = edited
  const facts = aligned([
    ['  name', edited.name],
    ['  color', color === null ? 'the portal’s default' : `${color}, with ${letterOn(color) === '#ffffff' ? 'white' : 'black'} letters`],
    ['  app', appUrl ?? 'not set']
  ])
  console.out(`The portal shows this to users:\n${facts}`)
}

function brandOf({ color, appUrl }: Look): Pick<EditPlatform, 'color' | 'appUrl'> {
  return {
    ...(color === undefined ? {} : { color: color === 'none' ? null : parseColor(color) }),
    ...(appUrl === undefined ? {} : { appUrl: appUrl === 'none' ? null : appUrl })
  }
}

export async function listPlatforms(console: Console, { json }: Common): Promise<void> {
  const platforms = await perform(console, 'platform.list', {})
  if (json) return outJson(console, platforms.map(wire))
  if (platforms.length === 0)
    return console.out('There is no platform yet. Create one with: npm run cli -- platform create --name "My app" --claim on\n')
  const head = ['client_id', 'platform_id', 'created', 'redirects', 'claim', 'state', 'name']
  const rows = platforms.map(({ clientId, platformId, createdAt, redirects, claims, name, disabledAt }) => [
    clientId,
    platformId,
    shownTime(createdAt),
    redirects.length === 0 ? 'any' : String(redirects.length),
    claims ? 'on' : 'off',
    disabledAt === null ? 'enabled' : 'disabled',
    name
  ])
  console.out(aligned([head, ...rows]))
}

/** Adds or removes addresses, or only lists them. */
export async function editRedirects(
  console: Console,
  platform: string,
  { add = [], remove = [], json }: Common & { readonly add?: readonly string[]; readonly remove?: readonly string[] }
): Promise<void> {
  const { name, redirects } = await perform(console, 'platform.redirects', { platform, add, remove })
  if (json) return outJson(console, redirects)
  const lines = redirects.length === 0 ? '  any address is allowed\n' : redirects.map(redirect => `  ${redirect}\n`).join('')
  console.out(`Redirect addresses of ${JSON.stringify(name)}:\n${lines}`)
}

export async function rotateSecret(
  console: Console,
  platform: string,
  { overlap, json }: Common & { readonly overlap: number }
): Promise<void> {
  const rotated = await perform(console, 'platform.rotate_secret', { platform, overlapSeconds: overlap })
  const { platformId, platformName, clientId, redirects, clientSecret, previousUntil } = rotated
  if (json) {
    const names = { platform_id: platformId, client_id: clientId, client_secret: clientSecret, name: platformName, redirects }
    return outJson(console, { ...names, created_at: rotated.createdAt, previous_until: previousUntil })
  }
  const old =
    previousUntil === null ? 'the old one stops working within two seconds' : `the old one also works until ${shownTime(previousUntil)}`
  const facts = credentials({ platformId, clientId, clientSecret, redirects })
  console.out(`Platform ${JSON.stringify(platformName)} has a new secret; ${old}.\n\n${facts}`)
}

export async function disablePlatform(console: Console, platform: string, { json }: Common): Promise<void> {
  const disabled = await perform(console, 'platform.disable', { platform })
  if (json) return outJson(console, wire(disabled))
  console.out(`Platform ${JSON.stringify(disabled.name)} is disabled. Its tokens and open links were deleted, and its sessions end now.\n`)
}

export async function enablePlatform(console: Console, platform: string, { json }: Common): Promise<void> {
  const enabled = await perform(console, 'platform.enable', { platform })
  if (json) return outJson(console, wire(enabled))
  console.out(`Platform ${JSON.stringify(enabled.name)} is enabled again. Tokens and links must be created again.\n`)
}

function credentials({
  platformId,
  clientId,
  clientSecret,
  redirects
}: Pick<PlatformView, 'platformId' | 'clientId' | 'redirects'> & { readonly clientSecret: string }): string {
  const facts = aligned([
    ['  platform_id', platformId],
    ['  client_id', clientId],
    ['  client_secret', clientSecret],
    ...redirects.map((redirect, index) => [index === 0 ? '  redirects' : '', redirect])
  ])
  return `${facts}\nStore the secret now: it is shown only this once, and the service keeps only its hash.\n`
}

/** Uses the API's field names. */
function wire({
  platformId,
  clientId,
  name,
  redirects,
  claims,
  color,
  appUrl,
  createdAt,
  disabledAt,
  ...more
}: PlatformView & { readonly clientSecret?: string }): object {
  const secret = more.clientSecret === undefined ? {} : { client_secret: more.clientSecret }
  return {
    platform_id: platformId,
    client_id: clientId,
    ...secret,
    name,
    redirects,
    claims,
    color,
    app_url: appUrl,
    created_at: createdAt,
    disabled_at: disabledAt
  }
}
