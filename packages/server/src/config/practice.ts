import type { Settings } from './settings.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether only this machine is reached by that name or address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/**
 * Whether a request's Host header names this machine only. A page of another site can have its own name lead here (DNS rebinding), and its
 * scripts then read what we answer; the header has the name by which the browser came.
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(header ?? '') ?? []
  return isLoopback(name)
}

/**
 * Why the service is not for practice; null when it is: it listens on this machine only, is named as such, has its database here, offers the
 * sandbox brokerage and no broker with real money. Only then is a demo platform made and shown. `host` and the rest as they could be read.
 */
export function whyNotPractice({
  host,
  publicUrl,
  offers,
  databaseUrl
}: Partial<Pick<Settings, 'host' | 'publicUrl' | 'offers' | 'databaseUrl'>>): string | null {
  if (publicUrl != null && !isLoopback(new URL(publicUrl).hostname)) return 'TRUNKLINE_PUBLIC_URL names more than this machine'
  if (host !== undefined && !isLoopback(host)) return 'TRUNKLINE_HOST is reached from other machines'
  if (databaseUrl != null && !isLocalDatabase(databaseUrl)) return 'TRUNKLINE_DATABASE_URL names a database on another machine'
  const live = offers?.find(offer => offer.at === 'broker' && offer.environment === 'live')
  if (live !== undefined) return `TRUNKLINE_BROKERS offers live accounts at ${live.id}`
  if (offers?.some(({ at }) => at === 'sandbox') === false) return 'TRUNKLINE_BROKERS offers nothing in the sandbox brokerage'
  return null
}

/** Without a host it is a local socket. A host may also be a parameter, which the driver prefers. */
function isLocalDatabase(url: string): boolean {
  const { hostname = '', searchParams } = URL.parse(url) ?? { searchParams: new URLSearchParams() }
  const host = searchParams.get('host') ?? hostname
  return host === '' || host.startsWith('/') || isLoopback(host)
}
