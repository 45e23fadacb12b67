import type { FastifyReply, FastifyRequest } from 'fastify'

const SECRET = /^[\w-]{20,64}$/
/** An hour: longer than any link lives. */
const SECONDS = 3_600

/** The secret that tells one browser from another while its user connects. */
export class BrowserCookie {
  readonly #isSecure: () => boolean

  /** @param isSecure whether browsers reach us over TLS. */
  constructor(isSecure: () => boolean) {
    this.#isSecure = isSecure
  }

  /** Null: none was sent, or none of ours. */
  read(request: FastifyRequest): string | null {
    const value = request.cookies[this.#name()]
    return value !== undefined && SECRET.test(value) ? value : null
  }

  /** Given anew with every page, so that it never ends between a page and the answer to it. */
  give(reply: FastifyReply, secret: string): void {
    reply.setCookie(this.#name(), secret, { path: '/', httpOnly: true, sameSite: 'lax', secure: this.#isSecure(), maxAge: SECONDS })
  }

  /** The prefix ties the cookie to this very host; browsers take it over TLS only. */
  #name(): string {
    return this.#isSecure() ? '__Host-trunkline-portal' : 'trunkline-portal'
  }
}
