import type { FastifyRequest } from 'fastify'

/**
 * Whether a form may come from a page of ours. Our pages send no referrer, so browsers send `Origin: null` with their forms, and
 * `Sec-Fetch-Site` decides. For a browser that sends neither, only the cookie is checked, which no browser sends across sites.
 */
export function isSameOriginForm({ headers, host }: Pick<FastifyRequest, 'headers' | 'host'>, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined || origin === 'null') return true
  return origin === publicUrl || origin === `http://${host}` || origin === `https://${host}`
}
