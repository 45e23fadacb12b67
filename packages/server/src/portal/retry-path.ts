import type { FastifyRequest } from 'fastify'

/** The path to reload after a failed request for a link's page; null for other requests. */
export function retryPathOf({ routeOptions, url }: Pick<FastifyRequest, 'routeOptions' | 'url'>): string | null {
  return routeOptions.url?.startsWith('/connect/:token') === true ? (url.split('?', 1)[0] ?? null) : null
}
