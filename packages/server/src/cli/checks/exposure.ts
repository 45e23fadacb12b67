import { isLoopback } from '../../config/practice.ts'
import type { Finding, Known } from '../../preflight/finding.ts'

/** What becomes visible from outside, and whether that is safe. */
export function checkExposure({ host, publicUrl, trustedProxies, offers }: Known): readonly Finding[] {
  const findings: Finding[] = []
  const warn = (about: string, message: string) => findings.push({ level: 'warning', about, message })
  const isPublic = (host !== undefined && !isLoopback(host)) || (publicUrl != null && !isLoopback(new URL(publicUrl).hostname))
  if (!isPublic) return findings
  if (publicUrl === null) warn('TRUNKLINE_PUBLIC_URL', 'is not set: links and redirects name the address listened on')
  if (publicUrl?.startsWith('http:')) warn('TRUNKLINE_PUBLIC_URL', 'is plain http: secrets and tokens travel in the clear')
  if (publicUrl?.startsWith('https:') && trustedProxies?.length === 0)
    warn('TRUNKLINE_TRUSTED_PROXIES', 'is empty: behind the proxy that ends TLS, every client has that proxy’s address')
  const practised = offers?.filter(({ at }) => at === 'sandbox').map(({ id }) => id) ?? []
  if (practised.length > 0)
    warn('TRUNKLINE_BROKERS', `offers ${practised.join(', ')} in the sandbox brokerage, whose logins are for practice`)
  return findings
}
