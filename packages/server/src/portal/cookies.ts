import type { PortalOutcome, PortalOutcomeReason } from '@trunkline/core/app/connect/portal-outcome'
import { type PlatformId, parseUuid } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Hasher, SealContext, Vault } from '@trunkline/core/ports/vault'
import { SealBroken } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BegunLoginCookie } from './begun-login.ts'
import { isReason } from './messages.ts'
import { type Notice, parseNotice } from './notice.ts'
import { type Opener, OpenerCookie, parseOpener } from './opener.ts'
import { SealedCookie } from './sealed-cookie.ts'

/** In seconds. Longer than the lifetime of any link. */
const HOUR = 3_600
const NOTICE_SECONDS = 600
const OUTCOME_SECONDS = 120
/** Browsers store at most 4,096 bytes of a cookie, including its name and attributes. */
const OUTCOME_LENGTH_MAX = 3_500

/** An outcome whose page is yet to be shown. */
export interface StoredOutcome {
  readonly reason: PortalOutcomeReason
  /** Where the user is sent. */
  readonly target: string
  /** The page that waits for it; null if the user is only sent there. */
  readonly opener: Opener | null
}

/** The portal's cookies. Each is bounded in size, authenticated by a MAC, and `HttpOnly`. */
export class PortalCookies {
  /** The secret that identifies a browser while its user connects. */
  readonly browser: SealedCookie
  /** The pages that opened links here, and wait for their outcome. */
  readonly openers: OpenerCookie
  /** The login at a broker that the browser began last. */
  readonly begun: BegunLoginCookie
  readonly #app: SealedCookie
  readonly #notice: SealedCookie
  readonly #outcome: SealedCookie
  readonly #hasher: Hasher
  readonly #vault: Vault

  constructor(hasher: Hasher, vault: Vault, isSecure: () => boolean) {
    const cookie = (suffix: string, purpose: string, seconds: number) => new SealedCookie({ hasher, isSecure, suffix, purpose, seconds })
    this.browser = cookie('', 'portal-browser', HOUR)
    this.openers = new OpenerCookie(cookie('-opener', 'portal-opener', HOUR))
    this.begun = new BegunLoginCookie(cookie('-login', 'portal-login', HOUR), { hasher, vault })
    this.#app = cookie('-app', 'portal-app', HOUR)
    this.#notice = cookie('-notice', 'portal-notice', NOTICE_SECONDS)
    this.#outcome = cookie('-outcome', 'portal-outcome', OUTCOME_SECONDS)
    this.#hasher = hasher
    this.#vault = vault
  }

  /** Stores which platform's application the browser came from, for pages that have no link in their URL. */
  setApp(reply: FastifyReply, platformId: PlatformId): void {
    this.#app.set(reply, platformId)
  }

  appOf(request: FastifyRequest): PlatformId | null {
    try {
      return parseUuid<PlatformId>(this.#app.read(request), 'app')
    } catch (cause) {
      if (cause instanceof Malformed) return null
      throw cause
    }
  }

  /** Stores what was wrong with the form submitted from `path`. The page at `path` shows it. */
  setNotice(reply: FastifyReply, path: string, notice: Notice): void {
    this.#notice.set(reply, encoded({ at: this.#hasher.hash(path), notice }))
  }

  noticeAt(request: FastifyRequest, path: string): Notice | null {
    const stored = decoded(this.#notice.read(request))
    return stored !== null && 'at' in stored && 'notice' in stored && stored.at === this.#hasher.hash(path)
      ? parseNotice(stored.notice)
      : null
  }

  clearNotice(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#notice.read(request) !== null) this.#notice.clear(reply)
  }

  /**
   * False if the redirect is too long for a cookie. Encrypted, because it may contain a claim code, and browsers send cookies to every port
   * of a host.
   */
  setOutcome(reply: FastifyReply, browser: string | null, { reason, redirect }: PortalOutcome, opener: Opener | null): boolean {
    const sealed = this.#vault.seal(JSON.stringify({ reason, redirect, opener }), this.#contextOf(browser))
    const text = Buffer.from(sealed).toString('base64url')
    if (text.length > OUTCOME_LENGTH_MAX) return false
    this.#outcome.set(reply, text)
    return true
  }

  outcomeOf(request: FastifyRequest): StoredOutcome | null {
    const text = this.#outcome.read(request)
    if (text === null) return null
    try {
      const stored: unknown = parseJson(this.#vault.open(Buffer.from(text, 'base64url'), this.#contextOf(this.browser.read(request))))
      if (typeof stored !== 'object' || stored === null || !('reason' in stored) || !('redirect' in stored)) return null
      const { reason, redirect: target } = stored
      const opener = 'opener' in stored ? parseOpener(stored.opener) : null
      return typeof reason === 'string' && isReason(reason) && typeof target === 'string' ? { reason, target, opener } : null
    } catch (cause) {
      if (cause instanceof SealBroken) return null
      throw cause
    }
  }

  /** Binds the ciphertext to the browser that it was made for. */
  #contextOf(browser: string | null): SealContext {
    return { table: 'portal', column: 'outcome', rowId: this.#hasher.hash(browser ?? ''), ownerId: 'browser', revision: 1 }
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decoded(text: string | null): object | null {
  if (text === null) return null
  const value: unknown = parseJson(Buffer.from(text, 'base64url').toString())
  return typeof value === 'object' ? value : null
}
