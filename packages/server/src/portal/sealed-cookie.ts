import type { Hasher } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'

const ISSUED = /^([\w-]{1,3500})\.([\w-]{43})$/

export interface SealedCookieOptions {
  readonly hasher: Hasher
  /** Appended to the cookie's name, `trunkline-portal`. */
  readonly suffix: string
  /** Part of the MAC, so that one cookie's value is not valid in another. */
  readonly purpose: string
  readonly seconds: number
  /** Whether browsers reach the service over TLS. */
  readonly isSecure: () => boolean
}

/** A cookie with a MAC, so that only the service can have made its value. The value consists of letters, digits, `_` and `-`. */
export class SealedCookie {
  readonly #options: SealedCookieOptions

  constructor(options: SealedCookieOptions) {
    this.#options = options
  }

  /**
   * Null if the cookie is absent or its MAC is wrong. Over plain http, a page on another port of this host could set one, hence the MAC.
   */
  read(request: FastifyRequest): string | null {
    const [, text, seal] = ISSUED.exec(request.cookies[this.#name()] ?? '') ?? []
    if (text === undefined || seal === undefined) return null
    const { hasher } = this.#options
    return hasher.equal(hasher.hash(seal), hasher.hash(this.#sealOf(text))) ? text : null
  }

  set(reply: FastifyReply, text: string): void {
    reply.setCookie(this.#name(), `${text}.${this.#sealOf(text)}`, { ...this.#attributes(), maxAge: this.#options.seconds })
  }

  clear(reply: FastifyReply): void {
    reply.setCookie(this.#name(), '', { ...this.#attributes(), maxAge: 0 })
  }

  #attributes() {
    return { path: '/', httpOnly: true, sameSite: 'lax', secure: this.#options.isSecure() } as const
  }

  #sealOf(text: string): string {
    const { hasher, purpose } = this.#options
    return Buffer.from(hasher.derive(`${purpose} ${text}`)).toString('base64url')
  }

  /** The prefix `__Host-` binds the cookie to this host. Browsers accept it over TLS only. */
  #name(): string {
    const { isSecure, suffix } = this.#options
    return `${isSecure() ? '__Host-' : ''}trunkline-portal${suffix}`
  }
}
