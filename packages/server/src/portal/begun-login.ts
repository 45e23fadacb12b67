// The login at a broker that a browser began, in an encrypted cookie of that browser: if its user is deleted meanwhile, nothing else is
// left that says where the user came from.
import { ended, type PortalOutcome } from '@trunkline/core/app/connect/portal-outcome'
import type { ConnectionAttempt } from '@trunkline/core/domain/account'
import { type AttemptId, type PlatformId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Hasher, SealBroken, type SealContext, type Vault } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SealedCookie } from './sealed-cookie.ts'

/** Browsers store at most 4,096 bytes of a cookie, including its name and attributes. */
const LENGTH_MAX = 3_500

type Crypto = { readonly hasher: Hasher; readonly vault: Vault }
/** What is kept of an attempt. */
export type Begun = Pick<ConnectionAttempt, 'attemptId' | 'platformId' | 'userKey' | 'redirectUrl' | 'redirectOnErrorUrl'>

/** The last login that the browser began. */
export class BegunLoginCookie {
  readonly #cookie: SealedCookie
  readonly #crypto: Crypto

  constructor(cookie: SealedCookie, crypto: Crypto) {
    this.#cookie = cookie
    this.#crypto = crypto
  }

  /** Nothing is kept if the platform's addresses are too long: the user then stays on our page. */
  set(
    reply: FastifyReply,
    browser: string,
    state: string,
    { attemptId, platformId, userKey, redirectUrl, redirectOnErrorUrl }: Begun
  ): void {
    const kept = { state: this.#crypto.hasher.hash(state), attemptId, platformId, userKey, target: redirectOnErrorUrl ?? redirectUrl }
    const text = Buffer.from(this.#crypto.vault.seal(JSON.stringify(kept), this.#contextOf(browser))).toString('base64url')
    if (text.length <= LENGTH_MAX) this.#cookie.set(reply, text)
  }

  /** The attempt whose login has this state, if this browser began it; else null. */
  of(request: FastifyRequest, browser: string | null, state: string | null): Begun | null {
    const text = this.#cookie.read(request)
    if (text === null || browser === null || state === null) return null
    try {
      const stored: unknown = parseJson(this.#crypto.vault.open(Buffer.from(text, 'base64url'), this.#contextOf(browser)))
      const fields: Readonly<Record<string, unknown>> = typeof stored === 'object' && stored !== null ? { ...stored } : {}
      if (fields.state !== this.#crypto.hasher.hash(state)) return null
      return {
        attemptId: parseUuid<AttemptId>(fields.attemptId, 'attempt'),
        platformId: parseUuid<PlatformId>(fields.platformId, 'platform'),
        userKey: parseUuid<UserKey>(fields.userKey, 'user'),
        redirectUrl: typeof fields.target === 'string' ? fields.target : null,
        redirectOnErrorUrl: null
      }
    } catch (cause) {
      if (cause instanceof SealBroken || cause instanceof Malformed) return null
      throw cause
    }
  }

  /** Binds the ciphertext to the browser that it was made for. */
  #contextOf(browser: string): SealContext {
    return { table: 'portal', column: 'begun', rowId: this.#crypto.hasher.hash(browser), ownerId: 'browser', revision: 1 }
  }
}

/** The end of a login whose user was deleted since it began; null for any other. */
export async function endWithoutUser(
  users: { findByKey(userKey: UserKey): Promise<unknown> },
  begun: Begun | null
): Promise<PortalOutcome | null> {
  return begun !== null && (await users.findByKey(begun.userKey)) === null ? ended(begun, 'user_removed') : null
}
