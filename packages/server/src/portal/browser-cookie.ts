import type { Hasher } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'

const ISSUED = /^([\w-]{20,64})\.([\w-]{43})$/
/** An hour: longer than any link lives. */
const SECONDS = 3_600

/** The secret that tells one browser from another while its user connects. */
export class BrowserCookie {
  readonly #hasher: Hasher
  readonly #isSecure: () => boolean

  /** @param isSecure whether browsers reach us over TLS. */
  constructor(hasher: Hasher, isSecure: () => boolean) {
    this.#hasher = hasher
    this.#isSecure = isSecure
  }

  /** Null: none was sent, or one that was not made here. Over plain http a page of another port can plant one, so what it says must be ours. */
  read(request: FastifyRequest): string | null {
    const [, secret, seal] = ISSUED.exec(request.cookies[this.#name()] ?? '') ?? []
    if (secret === undefined || seal === undefined) return null
    return this.#hasher.equal(this.#hasher.hash(seal), this.#hasher.hash(this.#sealOf(secret))) ? secret : null
  }

  /** Given anew with every page, so that it never ends between a page and the answer to it. */
  give(reply: FastifyReply, secret: string): void {
    reply.setCookie(this.#name(), `${secret}.${this.#sealOf(secret)}`, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.#isSecure(),
      maxAge: SECONDS
    })
  }

  #sealOf(secret: string): string {
    return Buffer.from(this.#hasher.derive(`portal-browser ${secret}`)).toString('base64url')
  }

  /** The prefix ties the cookie to this very host; browsers take it over TLS only. */
  #name(): string {
    return this.#isSecure() ? '__Host-trunkline-portal' : 'trunkline-portal'
  }
}
