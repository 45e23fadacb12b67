/** A dialect's tokens: codes, access tokens and refresh tokens of each grant, stored across restarts like the sandbox's own. */

import { Journal } from '../../brokerage/journal.ts'
import type { Pass } from '../../brokerage/oauth/grants.ts'
import type { BrokerageView } from './brokerage-view.ts'

export interface Grant {
  readonly id: string
  /** The login's id. */
  readonly login: string
  readonly client: string
  /** The broker's own. */
  readonly scopes: readonly string[]
}

interface StoredToken {
  readonly token: string
  /** Real time in milliseconds; null: no end. */
  readonly expiresAt: number | null
  readonly kind: 'access' | 'refresh'
  readonly grant: string
}

type Entry = { readonly grant: Grant } | { readonly put: StoredToken } | { readonly gone: readonly string[] } | { readonly ended: string }

interface Code {
  readonly grant: Omit<Grant, 'id'>
  readonly redirectUri: string | null
  readonly expiresAt: number
}

/** Codes that wait to be exchanged; beyond it the oldest are evicted. */
const CODES_MAX = 1_000
const SWEEP_EVERY = 500

export class Grants {
  readonly #brokerage: Pick<BrokerageView, 'newId' | 'realNow'>
  readonly #onEnded: (grant: string) => void
  readonly #grants = new Map<string, Grant>()
  readonly #tokens = new Map<string, StoredToken>()
  readonly #passes = new Map<string, Pass>()
  readonly #codes = new Map<string, Code>()
  readonly #journal: Journal<Entry> | null
  #untilSweep = SWEEP_EVERY

  /** `onEnded`: a grant ended with its login. Not called when tokens merely expire. */
  constructor(brokerage: Pick<BrokerageView, 'inFolder' | 'newId' | 'realNow'>, dialect: string, onEnded: (grant: string) => void) {
    this.#brokerage = brokerage
    this.#onEnded = onEnded
    const file = brokerage.inFolder(`${dialect}-grants.jsonl`)
    this.#journal = file === null ? null : new Journal<Entry>(file, entry => this.#apply(entry))
    this.#sweep()
    this.#journal?.rewrite(this.#entries())
  }

  /** A code for one exchange. */
  code(grant: Omit<Grant, 'id'>, redirectUri: string | null, livesMs: number): string {
    const code = this.#brokerage.newId()
    this.#codes.set(code, { grant, redirectUri, expiresAt: this.#brokerage.realNow() + livesMs })
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= CODES_MAX) break
      this.#codes.delete(oldest)
    }
    return code
  }

  /** The grant of a code that is good, once. `redirectUri` must be the one it was given for, where that is known. */
  exchange(code: string, redirectUri: string | null): Grant | null {
    const known = this.#codes.get(code)
    this.#codes.delete(code)
    if (known === undefined || known.expiresAt <= this.#brokerage.realNow()) return null
    if (known.redirectUri !== null && known.redirectUri !== redirectUri) return null
    return this.open(known.grant)
  }

  open(grant: Omit<Grant, 'id'>): Grant {
    const opened = { ...grant, id: `grant-${this.#brokerage.newId()}` }
    this.#store({ grant: opened })
    return opened
  }

  /** A new token. `livesS` null: it lives until the grant ends. */
  issue(grant: Grant, kind: StoredToken['kind'], livesS: number | null): string {
    const token = this.#brokerage.newId()
    this.#store({ put: { kind, grant: grant.id, token, expiresAt: livesS === null ? null : this.#brokerage.realNow() + livesS * 1000 } })
    if (--this.#untilSweep <= 0) this.#sweep()
    return token
  }

  /** The claims of a valid access token. */
  pass(token: string): Pass | undefined {
    const known = this.#passes.get(token)
    if (known !== undefined) return known.expiresAt > this.#brokerage.realNow() ? known : undefined
    const stored = this.#tokens.get(token)
    const grant = stored?.kind === 'access' ? this.#grants.get(stored.grant) : undefined
    if (stored === undefined || grant === undefined) return undefined
    const pass: Pass = {
      login: grant.login,
      client: grant.client,
      scopes: new Set(grant.scopes),
      grant: grant.id,
      expiresAt: stored.expiresAt ?? Number.MAX_SAFE_INTEGER
    }
    if (pass.expiresAt <= this.#brokerage.realNow()) return undefined
    this.#passes.set(token, pass)
    return pass
  }

  /** Whether it was an access token here once and is past its end: for brokers that distinguish expired from unknown. */
  isExpired(token: string): boolean {
    const stored = this.#tokens.get(token)
    return stored?.kind === 'access' && stored.expiresAt !== null && stored.expiresAt <= this.#brokerage.realNow()
  }

  /** The grant of a refresh token, which lives as long as that. */
  refresh(token: string): Grant | null {
    const stored = this.#tokens.get(token)
    return stored?.kind === 'refresh' ? (this.#grants.get(stored.grant) ?? null) : null
  }

  /** Ends every grant of a login, or (`refreshOnly`) lets access tokens live and forgets the refresh tokens. @returns grants touched. */
  endLogin(login: string, refreshOnly: boolean): number {
    const grants = [...this.#grants.values()].filter(grant => grant.login === login)
    for (const { id } of grants) {
      if (refreshOnly) this.#store({ gone: this.#members(id).filter(token => this.#tokens.get(token)?.kind === 'refresh') })
      else this.#end(id)
    }
    return grants.length
  }

  close(): void {
    this.#journal?.close()
  }

  #end(id: string): void {
    this.#store({ ended: id })
    this.#onEnded(id)
  }

  #members(grant: string): readonly string[] {
    return [...this.#tokens.values()].filter(stored => stored.grant === grant).map(({ token }) => token)
  }

  #store(entry: Entry): void {
    this.#journal?.append(entry)
    this.#apply(entry)
  }

  #apply(entry: Entry): void {
    if ('grant' in entry) this.#grants.set(entry.grant.id, entry.grant)
    else if ('put' in entry) this.#tokens.set(entry.put.token, entry.put)
    else if ('gone' in entry) for (const token of entry.gone) this.#drop(token)
    else {
      this.#grants.delete(entry.ended)
      for (const token of this.#members(entry.ended)) this.#drop(token)
    }
  }

  #drop(token: string): void {
    this.#tokens.delete(token)
    this.#passes.delete(token)
  }

  /** Tokens that ended a while ago are forgotten; for a day an expired token can still be distinguished from an unknown one. */
  #sweep(): void {
    this.#untilSweep = SWEEP_EVERY
    const before = this.#brokerage.realNow() - 24 * 3_600_000
    for (const { token, expiresAt } of [...this.#tokens.values()]) if (expiresAt !== null && expiresAt < before) this.#drop(token)
    for (const [code, { expiresAt }] of [...this.#codes]) if (expiresAt <= this.#brokerage.realNow()) this.#codes.delete(code)
  }

  *#entries(): Generator<Entry> {
    for (const grant of this.#grants.values()) yield { grant }
    for (const put of this.#tokens.values()) yield { put }
  }
}
