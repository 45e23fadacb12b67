import { ProviderUnavailable } from '../../oidc/faults.ts'
import { CALLBACK_PATH, providerOptions } from '../../oidc/options.ts'
import { LoginProvider } from '../../oidc/provider.ts'
import { SystemClock } from '../../ops/clock.ts'
import type { Finding, Known } from '../../preflight/finding.ts'

const about = 'TRUNKLINE_OIDC_ISSUER'

/** Reads the discovery document of the login provider, and names the address to register there. */
export async function checkLoginProvider(known: Known): Promise<readonly Finding[]> {
  const options = providerOptions(known)
  if (options === null) return []
  await using provider = new LoginProvider(options, new SystemClock())
  const noGrants: readonly Finding[] =
    known.oidcGrants?.length === 0
      ? [{ level: 'warning', about: 'TRUNKLINE_OIDC_GRANTS', message: 'is empty: nobody can log in by the provider' }]
      : []
  try {
    const { code_challenge_methods_supported: challenges, scopes_supported: scopes } = await provider.metadata()
    const callback = `${known.publicUrl ?? '<public URL>'}${CALLBACK_PATH}`
    const missing = scopes === undefined ? [] : options.request.split(' ').filter(scope => !scopes.includes(scope))
    return [
      { level: 'ok', about, message: `${provider.host} can be used; register the redirect address ${callback} there` },
      ...(challenges?.includes('S256') === true
        ? []
        : [warning(about, `${provider.host} does not announce PKCE with S256, which is used`)]),
      ...(missing.length === 0
        ? []
        : [warning('TRUNKLINE_OIDC_REQUEST', `names ${missing.join(', ')}, which ${provider.host} does not announce`)]),
      ...noGrants
    ]
  } catch (cause) {
    if (!(cause instanceof ProviderUnavailable)) throw cause
    const message = `${provider.host} ${cause.message}. Correct the issuer, or start the provider; codes log operators in meanwhile`
    return [{ level: 'fault', about, message }, ...noGrants]
  }
}

function warning(setting: string, message: string): Finding {
  return { level: 'warning', about: setting, message }
}
