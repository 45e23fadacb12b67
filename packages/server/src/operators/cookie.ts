// The cookies of an operator's session, and of a login by the provider that is under way.
import type { FastifyReply, FastifyRequest } from 'fastify'

export class OperatorCookie {
  readonly #publicUrl: () => string
  readonly #kind: 'operator' | 'login'

  constructor(publicUrl: () => string, kind: 'operator' | 'login' = 'operator') {
    this.#publicUrl = publicUrl
    this.#kind = kind
  }

  read({ cookies }: FastifyRequest): string | null {
    const value = cookies[this.#name()] ?? ''
    return value === '' ? null : value
  }

  set(reply: FastifyReply, secret: string, seconds: number): void {
    reply.setCookie(this.#name(), secret, { ...this.#attributes(), maxAge: seconds })
  }

  clear(reply: FastifyReply): void {
    reply.setCookie(this.#name(), '', { ...this.#attributes(), maxAge: 0 })
  }

  #attributes() {
    return { path: '/', httpOnly: true, sameSite: 'strict', secure: this.#isSecure() } as const
  }

  /**
   * The prefix `__Host-` binds the cookie to this host; browsers accept it over TLS only. They send cookies to every port of a host, so
   * without it the name contains the port.
   */
  #name(): string {
    const { port } = new URL(this.#publicUrl())
    const name = `trunkline-${this.#kind}`
    return this.#isSecure() ? `__Host-${name}` : `${name}-${port === '' ? 'http' : port}`
  }

  #isSecure(): boolean {
    return this.#publicUrl().startsWith('https:')
  }
}
