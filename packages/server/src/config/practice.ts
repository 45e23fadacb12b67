import { isLoopback } from './loopback.ts'
import type { Settings } from './settings.ts'

/**
 * Why the service is not for practice; null if it is: it listens on this machine only, under a name of it, with a database here, offering
 * the sandbox brokerage and no broker with real money. Only then is a demo platform created and shown. The settings may be incomplete.
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

/** Without a host it is a local socket. A `host` parameter takes precedence in the driver. */
function isLocalDatabase(url: string): boolean {
  const { hostname = '', searchParams } = URL.parse(url) ?? { searchParams: new URLSearchParams() }
  const host = searchParams.get('host') ?? hostname
  return host === '' || host.startsWith('/') || isLoopback(host)
}
