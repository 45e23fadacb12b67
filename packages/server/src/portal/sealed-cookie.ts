import type { Hasher } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'

const ISSUED = /^([\w-]{1,3500})\.([\w-]{43})$/

export interface SealedCookieOptions {
  readonly hasher: Hasher
  /** Behind `trunkline-portal`; a seal is good for its own cookie only. */
  readonly suffix: string
  readonly purpose: string
  readonly seconds: number
  /** Whether browsers reach us over TLS. */
  readonly isSecure: () => boolean
}

/** A text of letters, digits, `_` and `-` that a browser keeps for us, and that only we can have made. */
export class SealedCookie {
  readonly #options: SealedCookieOptions

  constructor(options: SealedCookieOptions) {
    this.#options = options
  }

  /** Null: none was sent, or one that was not made here. Over plain http a page of another port can plant one, so its content must be ours. */
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

  /** The prefix ties the cookie to this very host; browsers take it over TLS only. */
  #name(): string {
    const { isSecure, suffix } = this.#options
    return `${isSecure() ? '__Host-' : ''}trunkline-portal${suffix}`
  }
}
