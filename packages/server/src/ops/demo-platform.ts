/** The demo platform for newcomers: created in an empty practice installation, with its secret in one private file. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Deps } from '@trunkline/core/app/deps'
import { type PlatformId, parseUuid } from '@trunkline/core/domain/ids'
import type { Hasher } from '@trunkline/core/ports/vault'
import { writeDurably } from '@trunkline/files/durable'

/** What a newcomer needs; the contents of `demo-platform.json`. */
export interface DemoPlatform {
  readonly client_id: string
  readonly client_secret: string
  /** The new secret, only while the secret is being replaced. */
  readonly next_client_secret?: string
  readonly base_url: string
  readonly stream_url: string
  readonly market_data_stream_url: string
  readonly portal_url: string
  readonly sandbox_control_url: string | null
  readonly sandbox_logins: readonly { readonly username: string; readonly password: string }[]
  /** A link to the first page, which shows all of this; it works once. */
  readonly home_url: string
}

/** `demo-platform.json`, mode 0600: the only place with the secret. Read again each time, because an operator may rotate the secret. */
export class DemoFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Null if there is none, or it holds no credentials. */
  read(): DemoPlatform | null {
    if (!existsSync(this.path)) return null
    try {
      const stored = JSON.parse(readFileSync(this.path, 'utf8'))
      return typeof stored?.client_id === 'string' && typeof stored.client_secret === 'string' ? stored : null
    } catch {
      return null
    }
  }

  /** Whether there is a file, and it cannot be read. */
  isDamaged(): boolean {
    return existsSync(this.path) && this.read() === null
  }

  /**
   * Writes the secret that is about to replace that of `clientId` beside it. False: the file belongs to another key, or holds no
   * credentials, and is unchanged.
   * @throws FileNotWritten
   */
  announce(clientId: string, clientSecret: string): boolean {
    const stored = this.read()
    if (stored?.client_id !== clientId) return false
    this.write({ ...stored, next_client_secret: clientSecret })
    return true
  }

  /**
   * Ends a replacement: the announced secret is now the secret, or is dropped. Null: the file holds no credentials.
   * @throws FileNotWritten
   */
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
 * The file's contents. Completes or drops an interrupted replacement of its secret, depending on which secret the store has. Null if it
 * holds no credentials, or those of a platform that does not exist.
 * @throws FileNotWritten
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
 * The demo platform: created if the store has no platform, with its secret in the file and nowhere else. Every start writes the current
 * addresses to the file. Null if platforms exist and the file does not.
 */
export async function demoPlatform(
  { store, ids, hasher, clock, log }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'log'>,
  file: DemoFile,
  addresses: Omit<DemoPlatform, 'client_id' | 'client_secret'>
): Promise<{ readonly demo: DemoPlatform; readonly created: boolean } | null> {
  const known = await settledDemo({ store, hasher }, file)
  if (known !== null) return { demo: file.write({ ...known, ...addresses }), created: false }
  if ((await store.platforms.list()).length > 0) {
    if (file.isDamaged()) log.warn('the file of the demo platform holds no credentials: restore it or delete it', { file: file.path })
    return null
  }
  const clientSecret = ids.secret('sk_')
  const platform = {
    platformId: ownPlatformId(hasher, 'the demo platform'),
    clientId: ids.secret('pk_').slice(0, 27),
    name: 'Demo platform',
    redirectAllowList: [],
    // Off, as in the specification's flow.
    claims: false,
    createdAt: clock.now()
  }
  const demo = file.write({ client_id: platform.clientId, client_secret: clientSecret, ...addresses })
  const audit = { actor: 'operator', action: 'platform.create', result: 'ok', ip: null, requestId: null, detail: { demo: true } } as const
  try {
    await store.platforms.create(platform, hasher.hash(clientSecret), { at: clock.now(), target: platform.platformId, ...audit })
    return { demo, created: true }
  } catch (cause) {
    const known = await store.platforms.find(platform.platformId)
    if (known === null || known.clientId === platform.clientId) throw cause
    // Another node that starts at the same time was first, and has its credentials.
    rmSync(file.path)
    return null
  }
}

/** The id of a platform of the service itself: the same for all nodes of an installation, so that it has one. */
export function ownPlatformId(hasher: Pick<Hasher, 'derive'>, what: 'the demo platform' | 'the platform of replays'): PlatformId {
  const hex = Buffer.from(hasher.derive(what)).toString('hex')
  const [a, b, c, d, e] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20), hex.slice(20, 32)]
  return parseUuid(`${a}-${b}-8${c}-8${d}-${e}`, 'platform')
}
