import type { FastifyRequest } from 'fastify'

/** The page of a link that a failed request was for, to be loaded again; null: it was not about a link. */
export function retryPathOf({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): string | null {
  return routeOptions.url?.startsWith('/connect/:token') === true ? (url.split('?', 1)[0] ?? null) : null
}
