// The cookies of an operator's session, and of a login by the provider that is under way.
import type { FastifyReply, FastifyRequest } from 'fastify'

const VALUES_MAX = 4

export class OperatorCookie {
  readonly #publicUrl: () => string
  readonly #kind: 'operator' | 'login'

  constructor(publicUrl: () => string, kind: 'operator' | 'login' = 'operator') {
    this.#publicUrl = publicUrl
    this.#kind = kind
  }

  /**
   * All values of the cookie, four at most: without TLS, a page at another port of the host can set one of the same name,
   * which browsers may send before ours.
   */
  read({ headers }: Pick<FastifyRequest, 'headers'>): readonly string[] {
    const prefix = `${this.#name()}=`
    const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim())
    const values = pairs.filter(pair => pair.startsWith(prefix)).map(pair => pair.slice(prefix.length))
    return values.filter(value => value !== '').slice(0, VALUES_MAX)
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
