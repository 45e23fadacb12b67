import { ServiceError } from '@trunkline/core/domain/errors'
import type { FastifyInstance } from 'fastify'

/** What is said of an address that nothing serves, or that must not be seen. */
export function nothingHere(): ServiceError {
  return new ServiceError('route_not_found', 'There is nothing at this address; see /docs for what there is.')
}

/** Which methods an address takes, for telling "no such address" from "not with this method". */
export class KnownRoutes {
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()

  /** Notes every route that is registered on `app` from now on, by whatever part of the service. */
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

  /** The response to a request for an address and method that nothing serves, and the methods that are served. */
  miss(method: string, address: string): { readonly error: ServiceError; readonly allow: string | null } {
    const path = address.split('?', 1)[0] ?? ''
    const methods = new Set([...this.#methods.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))
    if (methods.size === 0) {
      return { error: nothingHere(), allow: null }
    }
    const allow = [...methods].sort().join(', ')
    return { error: new ServiceError('method_not_allowed', `${method} is not taken here; use ${allow}.`), allow }
  }
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')))
    .join('/')
  return new RegExp(`^${source}$`)
}
