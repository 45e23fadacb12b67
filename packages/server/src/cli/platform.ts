import type { PlatformView } from '../admin/operations.ts'
import { aligned, type Common, type Console, outJson } from './console.ts'
import { perform } from './operator.ts'

export async function createPlatform(
  console: Console,
  { name, redirect, json }: Common & { readonly name: string; readonly redirect: readonly string[] }
): Promise<void> {
  const made = await perform(console, 'platform.create', { name, redirects: redirect })
  if (json) return outJson(console, wire(made))
  console.out(`Platform ${JSON.stringify(name)} was created.\n\n${credentials(made)}`)
}

export async function listPlatforms(console: Console, { json }: Common): Promise<void> {
  const platforms = await perform(console, 'platform.list', {})
  if (json) return outJson(console, platforms.map(wire))
  if (platforms.length === 0)
    return console.out('There is no platform yet. Make one with: npm run cli -- platform create --name "My app"\n')
  const head = ['client_id', 'platform_id', 'created', 'redirects', 'name']
  const rows = platforms.map(({ clientId, platformId, createdAt, redirects, name }) => [
    clientId,
    platformId,
    createdAt.slice(0, 19).concat('Z'),
    redirects.length === 0 ? 'any' : String(redirects.length),
    name
  ])
  console.out(aligned([head, ...rows]))
}

export async function rotateSecret(console: Console, platform: string, { json }: Common): Promise<void> {
  const rotated = await perform(console, 'platform.rotate_secret', { platform })
  if (json) return outJson(console, wire(rotated))
  console.out(`Platform ${JSON.stringify(rotated.name)} has a new secret; the old one ends within two seconds.\n\n${credentials(rotated)}`)
}

function credentials({ platformId, clientId, clientSecret, redirects }: PlatformView & { readonly clientSecret: string }): string {
  const facts = aligned([
    ['  platform_id', platformId],
    ['  client_id', clientId],
    ['  client_secret', clientSecret],
    ...redirects.map((redirect, index) => [index === 0 ? '  redirects' : '', redirect])
  ])
  return `${facts}\nNote the secret now: it is shown this once, and only its hash is kept.\n`
}

/** The names of the API, which scripts already know. */
function wire({ platformId, clientId, name, redirects, createdAt, ...more }: PlatformView & { readonly clientSecret?: string }): object {
  const secret = more.clientSecret === undefined ? {} : { client_secret: more.clientSecret }
  return { platform_id: platformId, client_id: clientId, ...secret, name, redirects, created_at: createdAt }
}
