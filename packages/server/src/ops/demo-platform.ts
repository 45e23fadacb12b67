import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Deps } from '@trunkline/core/app/deps'
import type { PlatformId } from '@trunkline/core/domain/ids'

/** What a newcomer needs, as it stands in `demo-platform.json`. */
export interface DemoPlatform {
  readonly client_id: string
  readonly client_secret: string
  readonly base_url: string
  readonly stream_url: string
  readonly market_data_stream_url: string
  readonly portal_url: string
  readonly sandbox_control_url: string | null
  readonly sandbox_logins: readonly { readonly username: string; readonly password: string }[]
}

/**
 * The demo platform: made when the store has no platform at all, its secret kept in `path` (mode 0600) and nowhere else. The file is
 * rewritten with the present addresses at every start. Null when platforms exist and the file does not.
 */
export async function demoPlatform(
  { store, ids, hasher, clock }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock'>,
  path: string,
  addresses: Omit<DemoPlatform, 'client_id' | 'client_secret'>
): Promise<{ readonly demo: DemoPlatform; readonly created: boolean } | null> {
  const known = readKnown(path)
  const stored = known === null ? null : await store.platforms.findByClientId(known.client_id)
  if (known !== null && stored !== null) return { demo: write(path, { ...known, ...addresses }), created: false }
  if ((await store.platforms.list()).length > 0) return null
  const clientSecret = ids.secret('sk_')
  const platform = {
    platformId: ids.uuid<PlatformId>(),
    clientId: ids.secret('pk_').slice(0, 27),
    name: 'Demo platform',
    redirectAllowList: [],
    createdAt: clock.now()
  }
  const demo = write(path, { client_id: platform.clientId, client_secret: clientSecret, ...addresses })
  const audit = { actor: 'operator', action: 'platform.create', result: 'ok', ip: null, requestId: null, detail: { demo: true } } as const
  await store.platforms.create(platform, hasher.hash(clientSecret), { at: clock.now(), target: platform.platformId, ...audit })
  return { demo, created: true }
}

function readKnown(path: string): Pick<DemoPlatform, 'client_id' | 'client_secret'> | null {
  if (!existsSync(path)) return null
  try {
    const { client_id, client_secret } = JSON.parse(readFileSync(path, 'utf8'))
    return typeof client_id === 'string' && typeof client_secret === 'string' ? { client_id, client_secret } : null
  } catch {
    return null
  }
}

function write(path: string, demo: DemoPlatform): DemoPlatform {
  writeFileSync(`${path}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return demo
}
