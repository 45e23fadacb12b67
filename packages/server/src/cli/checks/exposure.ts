import { isLoopback } from '../../config/loopback.ts'
import type { Finding, Known } from '../../preflight/finding.ts'

/** Warns about settings that are unsafe on a service that others can reach. */
export function checkExposure({ host, publicUrl, trustedProxies, offers }: Known): readonly Finding[] {
  const findings: Finding[] = []
  const warn = (about: string, message: string) => findings.push({ level: 'warning', about, message })
  const isPublic = (host !== undefined && !isLoopback(host)) || (publicUrl != null && !isLoopback(new URL(publicUrl).hostname))
  if (!isPublic) return findings
  if (publicUrl === null) warn('TRUNKLINE_PUBLIC_URL', 'is not set: links and redirects contain the address that the service listens on')
  if (publicUrl?.startsWith('http:')) warn('TRUNKLINE_PUBLIC_URL', 'is plain http: secrets and tokens are sent unencrypted')
  if (publicUrl?.startsWith('https:') && trustedProxies?.length === 0)
    warn('TRUNKLINE_TRUSTED_PROXIES', 'is empty: behind a proxy that terminates TLS, every client has the proxy’s address')
  const practised = offers?.filter(({ at }) => at === 'sandbox').map(({ id }) => id) ?? []
  if (practised.length > 0)
    warn('TRUNKLINE_BROKERS', `offers ${practised.join(', ')} in the sandbox brokerage, whose logins are only for practice`)
  return findings
}
