/** The demo platform, with which a newcomer begins: made on an empty installation that is for practice, kept in one private file. */
import { existsSync, readFileSync } from 'node:fs'
import type { Deps } from '@trunkline/core/app/deps'
import type { PlatformId } from '@trunkline/core/domain/ids'
import { writeDurably } from '@trunkline/files/durable'

/** What a newcomer needs, as it stands in `demo-platform.json`. */
export interface DemoPlatform {
  readonly client_id: string
  readonly client_secret: string
  /** Only while the secret is being replaced: the one that takes its place. */
  readonly next_client_secret?: string
  readonly base_url: string
  readonly stream_url: string
  readonly market_data_stream_url: string
  readonly portal_url: string
  readonly sandbox_control_url: string | null
  readonly sandbox_logins: readonly { readonly username: string; readonly password: string }[]
  /** Opens the first page with all of this on it, once. */
  readonly home_url: string
}

/** `demo-platform.json`, mode 0600: the only place that has the secret. Read again each time, because an operator may rotate the secret. */
export class DemoFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Null when there is none, or when it does not hold credentials. */
  read(): DemoPlatform | null {
    if (!existsSync(this.path)) return null
    try {
      const stored = JSON.parse(readFileSync(this.path, 'utf8'))
      return typeof stored?.client_id === 'string' && typeof stored.client_secret === 'string' ? stored : null
    } catch {
      return null
    }
  }

  /**
   * Keeps the secret that is about to replace that of `clientId`, beside it. False: the file is of another key, or holds no credentials, and
   * stays as it is. @throws FileNotWritten
   */
  announce(clientId: string, clientSecret: string): boolean {
    const stored = this.read()
    if (stored?.client_id !== clientId) return false
    this.write({ ...stored, next_client_secret: clientSecret })
    return true
  }

  /** Ends a replacement: the announced secret took the place of the other, or did not. Null: the file holds no credentials. @throws FileNotWritten */
  settle(isReplaced: boolean): DemoPlatform | null {
    const stored = this.read()
    if (stored === null) return null
    const { next_client_secret: next, ...demo } = stored
    if (next === undefined) return stored
    return this.write(isReplaced ? { ...demo, client_secret: next } : demo)
  }

  /** @throws FileNotWritten */
  write(demo: DemoPlatform): DemoPlatform {
    writeDurably(this.path, `${JSON.stringify(demo, null, 2)}\n`)
    return demo
  }
}

/**
 * What the file holds, once a replacement of its secret that was cut off is ended: whether it was done, the store knows. Null where it holds no
 * credentials, or those of a platform that is not there. @throws FileNotWritten
 */
export async function settledDemo(
  { store, hasher }: { readonly store: Pick<Deps['store'], 'platforms'>; readonly hasher: Pick<Deps['hasher'], 'hash'> },
  file: DemoFile
): Promise<DemoPlatform | null> {
  const known = file.read()
  const stored = known === null ? null : await store.platforms.findByClientId(known.client_id)
  if (known === null || stored === null) return null
  const next = known.next_client_secret
  return next === undefined ? known : (file.settle(hasher.hash(next) === stored.secretHash) ?? known)
}

/**
 * The demo platform: made when the store has no platform at all, its secret kept in the file and nowhere else. The file is rewritten with the
 * present addresses at every start. Null when platforms exist and the file does not.
 */
export async function demoPlatform(
  { store, ids, hasher, clock }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock'>,
  file: DemoFile,
  addresses: Omit<DemoPlatform, 'client_id' | 'client_secret'>
): Promise<{ readonly demo: DemoPlatform; readonly created: boolean } | null> {
  const known = await settledDemo({ store, hasher }, file)
  if (known !== null) return { demo: file.write({ ...known, ...addresses }), created: false }
  if ((await store.platforms.list()).length > 0) return null
  const clientSecret = ids.secret('sk_')
  const platform = {
    platformId: ids.uuid<PlatformId>(),
    clientId: ids.secret('pk_').slice(0, 27),
    name: 'Demo platform',
    redirectAllowList: [],
    // As the specification's flow is, for newcomers.
    claims: false,
    createdAt: clock.now()
  }
  const demo = file.write({ client_id: platform.clientId, client_secret: clientSecret, ...addresses })
  const audit = { actor: 'operator', action: 'platform.create', result: 'ok', ip: null, requestId: null, detail: { demo: true } } as const
  await store.platforms.create(platform, hasher.hash(clientSecret), { at: clock.now(), target: platform.platformId, ...audit })
  return { demo, created: true }
}
