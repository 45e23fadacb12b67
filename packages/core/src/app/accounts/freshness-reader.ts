import type { Account, Connection } from '../../domain/account.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { ConfirmedKind } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import type { Unrefreshed } from '../mirror/refreshes.ts'

/** For records that follow the broker without a gap, a confirmation time up to this old is good enough: it only moves forward. */
const REMEMBER_MS = 1_000
const REMEMBERED_MAX = 50_000

/** What a read learned about its accounts. */
export interface FreshnessQuery {
  readonly accounts: readonly Account[]
  readonly kind: ConfirmedKind
  /** Accounts whose records could not be refreshed, and why, as far as the refresh could tell. */
  readonly unrefreshed: Unrefreshed
  readonly isLive: (account: Account) => boolean
  readonly isUnsupported: (account: Account) => boolean
}

/** Determines the freshness of the records of each account of a read. */
export class FreshnessReader {
  readonly #deps: Pick<Deps, 'store' | 'clock'>
  readonly #directory: Pick<Directory, 'connections'>
  readonly #remembered = new Map<string, { readonly confirmed: Timestamp | null; readonly atMs: number }>()

  constructor(deps: Pick<Deps, 'store' | 'clock'>, directory: Pick<Directory, 'connections'>) {
    this.#deps = deps
    this.#directory = directory
  }

  /** In the order of the accounts. */
  async of({ accounts, kind, unrefreshed, isLive, isUnsupported }: FreshnessQuery): Promise<readonly Freshness[]> {
    const live = new Set(
      accounts.filter(account => !unrefreshed.has(account.accountId) && isLive(account)).map(({ accountId }) => accountId)
    )
    const supported = accounts.filter(account => !isUnsupported(account))
    const confirmed = await this.#confirmed(supported, kind, live)
    const broken = unrefreshed.size === 0 ? new Set() : await this.#broken(accounts)
    return accounts.map(account => {
      const { accountId, connectionId } = account
      if (isUnsupported(account)) return { accountId, confirmed: null, state: 'unsupported', reason: null }
      const at = confirmed.get(accountId) ?? null
      const why = unrefreshed.get(accountId)
      if (why === undefined) return { accountId, confirmed: at, state: live.has(accountId) ? 'live' : 'fresh', reason: null }
      const reason = broken.has(connectionId) ? 'connection_broken' : why
      return { accountId, confirmed: at, state: at === null ? 'unavailable' : 'stale', reason }
    })
  }

  // Read again: a connection may have broken during the refresh.
  async #broken([first, ...others]: readonly Account[]): Promise<ReadonlySet<unknown>> {
    if (first === undefined) return new Set()
    const userKeys = new Set([first, ...others].map(({ userKey }) => userKey))
    const connections: Connection[] = []
    for (const userKey of userKeys) connections.push(...(await this.#directory.connections(userKey)))
    return new Set(connections.filter(({ status }) => status === 'BROKEN').map(({ connectionId }) => connectionId))
  }

  async #confirmed(
    accounts: readonly Account[],
    kind: ConfirmedKind,
    live: ReadonlySet<AccountId>
  ): Promise<ReadonlyMap<AccountId, Timestamp | null>> {
    const now = this.#deps.clock.monotonicMs()
    const found = new Map<AccountId, Timestamp | null>()
    const missing: AccountId[] = []
    for (const { accountId } of accounts) {
      const known = live.has(accountId) ? this.#remembered.get(`${kind} ${accountId}`) : undefined
      if (known !== undefined && now - known.atMs < REMEMBER_MS) found.set(accountId, known.confirmed)
      else missing.push(accountId)
    }
    if (missing.length === 0) return found
    const stored = await this.#deps.store.accounts.confirmed(missing, kind)
    for (const accountId of missing) {
      const confirmed = stored.get(accountId) ?? null
      found.set(accountId, confirmed)
      if (live.has(accountId)) setBounded(this.#remembered, `${kind} ${accountId}`, { confirmed, atMs: now }, REMEMBERED_MAX)
    }
    return found
  }
}
