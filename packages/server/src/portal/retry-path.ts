import type { FastifyRequest } from 'fastify'

/** The page of a link at which a request that failed was aimed, to be asked for once more; null: it was not about a link. */
export function retryPathOf({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): string | null {
  return routeOptions.url?.startsWith('/connect/:token') === true ? (url.split('?', 1)[0] ?? null) : null
}
