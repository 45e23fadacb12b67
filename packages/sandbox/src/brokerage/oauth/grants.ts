/** Tokens and grants: the storage of oidc-provider, in memory for the request path and in a journal for the next start. */

import type { Adapter, AdapterPayload } from 'oidc-provider'
import { Journal } from '../journal.ts'

/** The claims of an access token. */
export interface Pass {
  /** The login's id. */
  readonly login: string
  readonly client: string
  readonly scopes: ReadonlySet<string>
  readonly grant: string
  /** Real time, milliseconds. */
  readonly expiresAt: number
}

interface StoredRecord {
  readonly model: string
  readonly id: string
  readonly payload: AdapterPayload
  /** Real time, milliseconds. */
  readonly expiresAt: number
  usedAt?: number
  pass?: Pass
}

type Entry =
  | { readonly put: Omit<StoredRecord, 'usedAt' | 'pass'> }
  | { readonly used: string; readonly at: number }
  | { readonly gone: readonly string[] }

/** The models that must survive a restart. Browser sessions and unfinished login flows need not. */
const LASTING = new Set(['Grant', 'AccessToken', 'RefreshToken', 'AuthorizationCode'])

/** At this many entries, the oldest temporary ones (sessions, unfinished login flows) are removed. */
const PASSING_MAX = 10_000
const SWEEP_EVERY = 1_000

export interface GrantStoreDeps {
  /** null: nothing survives the process. */
  readonly file: string | null
  readonly now: () => number
  readonly refreshGraceMs: () => number
  /** A grant ended: it or its login was revoked. Not called when tokens merely expire. */
  readonly onEnded: (grant: string) => void
}

export class GrantStore {
  readonly #deps: GrantStoreDeps
  readonly #records = new Map<string, StoredRecord>()
  readonly #byGrant = new Map<string, Set<string>>()
  readonly #byUid = new Map<string, string>()
  readonly #journal: Journal<Entry> | null
  #passing = 0
  #untilSweep = SWEEP_EVERY

  constructor(deps: GrantStoreDeps) {
    this.#deps = deps
    this.#journal = deps.file === null ? null : new Journal<Entry>(deps.file, entry => this.#restore(entry))
    this.#sweep()
    this.#journal?.rewrite(this.#lasting())
  }

  /** The pass of a valid access token. Called for every request, so it reads only two maps. */
  pass(token: string): Pass | undefined {
    const record = this.#records.get(`AccessToken:${token}`)
    if (record === undefined || record.expiresAt <= this.#deps.now()) return undefined
    if (record.pass !== undefined) return record.pass
    const { accountId, clientId, grantId, scope } = record.payload
    if (accountId === undefined || clientId === undefined || grantId === undefined) return undefined
    record.pass = { login: accountId, client: clientId, grant: grantId, scopes: new Set(scope?.split(' ')), expiresAt: record.expiresAt }
    return record.pass
  }

  /** Ends every grant of a login, or (`refreshOnly`) only its refresh tokens. @returns grants touched. */
  endLogin(login: string, refreshOnly: boolean): number {
    const grants = [...this.#records.values()].filter(record => record.model === 'Grant' && record.payload.accountId === login)
    for (const { id } of grants) {
      if (refreshOnly) this.#drop(this.#members(id).filter(key => key.startsWith('RefreshToken:')))
      else this.#endGrant(id)
    }
    return grants.length
  }

  /** The storage of one model for oidc-provider. */
  adapter(model: string): Adapter {
    const key = (id: string) => `${model}:${id}`
    return {
      upsert: async (id, payload, expiresIn) => this.#put(model, id, payload, expiresIn),
      find: async id => this.#find(key(id)),
      findByUid: async uid => this.#find(this.#byUid.get(uid) ?? ''),
      findByUserCode: async () => undefined,
      consume: async id => this.#consume(key(id)),
      destroy: async id => {
        if (model === 'Grant') this.#endGrant(id)
        else this.#drop([key(id)])
      },
      revokeByGrantId: async grant => this.#drop(this.#members(grant).filter(member => member.startsWith(`${model}:`)))
    }
  }

  close(): void {
    this.#journal?.close()
  }

  #find(key: string): AdapterPayload | undefined {
    const record = this.#records.get(key)
    if (record === undefined || record.expiresAt <= this.#deps.now()) return undefined
    if (record.usedAt === undefined) return record.payload
    const inGrace = record.model === 'RefreshToken' && this.#deps.now() - record.usedAt < this.#deps.refreshGraceMs()
    return inGrace ? record.payload : { ...record.payload, consumed: Math.floor(record.usedAt / 1000) }
  }

  #put(model: string, id: string, payload: AdapterPayload, expiresIn: number | undefined): void {
    const expiresAt = expiresIn !== undefined && Number.isFinite(expiresIn) ? this.#deps.now() + expiresIn * 1000 : Number.MAX_SAFE_INTEGER
    const record: StoredRecord = { model, id, payload, expiresAt }
    if (LASTING.has(model)) this.#journal?.append({ put: record })
    this.#index(record)
    if (--this.#untilSweep <= 0) this.#sweep()
  }

  #index(record: StoredRecord): void {
    const key = `${record.model}:${record.id}`
    if (!LASTING.has(record.model) && !this.#records.has(key)) this.#passing++
    this.#records.set(key, record)
    const { grantId, uid } = record.payload
    if (record.model === 'Session' && uid !== undefined) this.#byUid.set(uid, key)
    if (grantId === undefined || !LASTING.has(record.model)) return
    const members = this.#byGrant.get(grantId)
    if (members === undefined) this.#byGrant.set(grantId, new Set([key]))
    else members.add(key)
  }

  #consume(key: string): void {
    const record = this.#records.get(key)
    // The first use counts: a second one within the grace period must not extend it.
    if (record === undefined || record.usedAt !== undefined) return
    record.usedAt = this.#deps.now()
    if (LASTING.has(record.model)) this.#journal?.append({ used: key, at: record.usedAt })
  }

  #members(grant: string): readonly string[] {
    return [...(this.#byGrant.get(grant) ?? [])]
  }

  #endGrant(grant: string): void {
    this.#drop([...this.#members(grant), `Grant:${grant}`])
    this.#byGrant.delete(grant)
    this.#deps.onEnded(grant)
  }

  #drop(keys: readonly string[]): void {
    const present = keys.filter(key => this.#records.has(key))
    if (present.length === 0) return
    const lasting = present.filter(key => LASTING.has(key.slice(0, key.indexOf(':'))))
    if (lasting.length > 0) this.#journal?.append({ gone: lasting })
    this.#forget(present)
  }

  #forget(keys: readonly string[]): void {
    for (const key of keys) {
      const record = this.#records.get(key)
      if (record === undefined) continue
      this.#records.delete(key)
      if (!LASTING.has(record.model)) this.#passing--
      const { grantId, uid } = record.payload
      if (uid !== undefined && this.#byUid.get(uid) === key) this.#byUid.delete(uid)
      if (grantId !== undefined) this.#byGrant.get(grantId)?.delete(key)
    }
  }

  #sweep(): void {
    this.#untilSweep = SWEEP_EVERY
    const now = this.#deps.now()
    this.#forget([...this.#records].filter(([, record]) => record.expiresAt <= now).map(([key]) => key))
    const excess = this.#passing - PASSING_MAX
    if (excess <= 0) return
    this.#forget(
      [...this.#records]
        .filter(([, record]) => !LASTING.has(record.model))
        .slice(0, excess)
        .map(([key]) => key)
    )
  }

  #restore(entry: Entry): void {
    if ('put' in entry) this.#index({ ...entry.put })
    else if ('gone' in entry) this.#forget(entry.gone)
    else {
      const record = this.#records.get(entry.used)
      if (record !== undefined) record.usedAt = entry.at
    }
  }

  *#lasting(): Generator<Entry> {
    for (const [key, { model, id, payload, expiresAt, usedAt }] of this.#records) {
      if (!LASTING.has(model)) continue
      yield { put: { model, id, payload, expiresAt } }
      if (usedAt !== undefined) yield { used: key, at: usedAt }
    }
  }
}
