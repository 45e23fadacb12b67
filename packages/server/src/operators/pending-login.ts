// A login by the provider that is under way. Its secrets are in an encrypted cookie of the browser that began it, and nowhere else: nobody
// fills a table or the memory with them, the callback may reach any node with the same master keys, and another browser does not have it.

import { LOGIN_MS } from '@trunkline/core/app/operators/provider-login'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import { SealBroken, type SealContext, type Vault } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LoginSecrets } from '../oidc/provider.ts'
import type { OperatorCookie } from './cookie.ts'

export interface PendingLogin extends LoginSecrets {
  /** The page of the console to show afterwards: its path and query. */
  readonly returnTo: string
}

const CONTEXT: SealContext = { table: 'operator_logins', column: 'pending', rowId: 'cookie', ownerId: 'browser', revision: 1 }
/** Browsers store at most 4,096 bytes of a cookie, with its name and attributes. */
const LENGTH_MAX = 3_800
/** By how much the clocks of two nodes may differ. */
const AHEAD_MS = 60_000

export class PendingLoginCookie {
  readonly #cookie: OperatorCookie
  readonly #deps: { readonly vault: Pick<Vault, 'seal' | 'open'>; readonly clock: Pick<Clock, 'now'> }

  constructor(cookie: OperatorCookie, deps: { readonly vault: Pick<Vault, 'seal' | 'open'>; readonly clock: Pick<Clock, 'now'> }) {
    this.#cookie = cookie
    this.#deps = deps
  }

  /** Replaces the login that this browser began before, if any. @throws Malformed if the page does not fit into a cookie */
  set(reply: FastifyReply, login: PendingLogin): void {
    const text = JSON.stringify({ ...login, begunAt: epochMs(this.#deps.clock.now()) })
    const sealed = Buffer.from(this.#deps.vault.seal(text, CONTEXT)).toString('base64url')
    if (sealed.length > LENGTH_MAX)
      throw new Malformed('return_to', `a path and query that fit, encrypted, into ${LENGTH_MAX} characters of a cookie`, login.returnTo)
    this.#cookie.set(reply, sealed, LOGIN_MS / 1_000)
  }

  clear(reply: FastifyReply): void {
    this.#cookie.clear(reply)
  }

  /** Those that were begun in this browser and have not ended: over plain http others can plant cookies beside its own. */
  read(request: FastifyRequest): readonly PendingLogin[] {
    return this.#cookie.read(request).flatMap(text => this.#opened(text) ?? [])
  }

  /** Null for what this service did not seal, or too long ago. */
  #opened(text: string): PendingLogin | null {
    const { state, nonce, verifier, returnTo, begunAt } = this.#unsealed(text)
    const age = epochMs(this.#deps.clock.now()) - Number(begunAt)
    if (!(age >= -AHEAD_MS && age < LOGIN_MS)) return null
    return { state: String(state), nonce: String(nonce), verifier: String(verifier), returnTo: String(returnTo) }
  }

  /** Empty for what this service did not seal. */
  #unsealed(text: string): Readonly<Record<string, unknown>> {
    try {
      const stored = parseJson(this.#deps.vault.open(Buffer.from(text, 'base64url'), CONTEXT))
      return typeof stored === 'object' && stored !== null ? { ...stored } : {}
    } catch (cause) {
      if (cause instanceof SealBroken) return {}
      throw cause
    }
  }
}
