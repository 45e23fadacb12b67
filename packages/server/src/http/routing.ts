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
    const methods = new Set([...this.#methods.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))
    if (methods.size === 0) {
      return { error: nothingHere(), allow: null }
    }
    const allow = [...methods].sort().join(', ')
    return { error: new ServiceError('method_not_allowed', `This address does not accept ${method}; use ${allow}.`), allow }
  }
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')))
    .join('/')
  return new RegExp(`^${source}$`)
}
