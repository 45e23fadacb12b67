import { ServiceError } from '@trunkline/core/domain/errors'
import type { FastifyInstance } from 'fastify'

/** The error for an address that no route serves, or whose route is hidden. */
export function nothingHere(): ServiceError {
  return new ServiceError('route_not_found', 'There is nothing at this address; the reference at /docs lists every address.')
}

/** The methods of every address, to tell 404 (unknown address) from 405 (method not allowed). */
export class KnownRoutes {
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()

  /** Records every route that any module registers on `app` from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method, config }) => {
      if (config?.isHidden === true) return
      for (const one of [method].flat()) this.#note(url, one)
    })
  }

  #note(url: string, method: string): void {
    const known = this.#methods.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
    known.methods.add(method)
    this.#methods.set(url, known)
  }

  /** The error for a request that no route serves, and the methods that the address accepts. */
  miss(method: string, address: string): { readonly error: ServiceError; readonly allow: string | null } {
    const path = address.split('?', 1)[0] ?? ''
    const matching = [...this.#methods].filter(([, { pattern }]) => pattern.test(path))
    if (matching.length === 0) return { error: nothingHere(), allow: null }
    const allow = [...new Set(matching.flatMap(([, { methods }]) => [...methods]))].sort().join(', ')
    const elsewhere = this.#nested(
      method,
      matching.map(([url]) => url)
    )
    const hint = elsewhere === undefined ? '' : ` ${method} is accepted at ${elsewhere.replace(/:(\w+)/g, '{$1}')}.`
    return { error: new ServiceError('method_not_allowed', `This address does not accept ${method}; use ${allow}.${hint}`), allow }
  }

  /** The address of the same resource below another one, if it accepts the method: of an order below its account, for example. */
  #nested(method: string, urls: readonly string[]): string | undefined {
    for (const [url, { methods }] of this.#methods) {
      if (methods.has(method) && urls.some(short => url !== short && url.endsWith(short))) return url
    }
    return undefined
  }
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')))
    .join('/')
  return new RegExp(`^${source}$`)
}
