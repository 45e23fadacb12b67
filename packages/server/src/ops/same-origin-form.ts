import type { FastifyRequest } from 'fastify'

/**
 * Whether a form may have been sent from a page of ours. Our pages send no referrer, so browsers write `Origin: null` into their forms, and
 * `Sec-Fetch-Site` decides; a browser that sends neither has the cookie checked alone, which none sends across sites.
 */
export function isSameOriginForm({ headers, host }: Pick<FastifyRequest, 'headers' | 'host'>, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined || origin === 'null') return true
  return origin === publicUrl || origin === `http://${host}` || origin === `https://${host}`
}
