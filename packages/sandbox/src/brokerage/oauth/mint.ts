/** Creates a grant without the browser flow, for tests and benches, through the control API. */

import type { Provider } from 'oidc-provider'

export interface Minting {
  readonly login: string
  readonly client: string
  readonly scopes: readonly string[]
  /** Real time in milliseconds. */
  readonly now: number
}

/** Creates the same records as a login flow. */
export async function mintTokens(provider: Provider, { login, client: clientId, scopes, now }: Minting) {
  const client = await provider.Client.find(clientId)
  if (client === undefined) throw new Error(`no client ${clientId}`)
  const scope = scopes.join(' ')
  const grant = new provider.Grant({ accountId: login, clientId })
  grant.addOIDCScope(scope)
  const common = { accountId: login, client, grantId: await grant.save(), gty: 'authorization_code', scope }
  const access = new provider.AccessToken(common)
  const refresh = new provider.RefreshToken({ ...common, rotations: 0, iiat: Math.floor(now / 1000) })
  return { accessToken: await access.save(), refreshToken: await refresh.save(), expiresIn: access.expiration }
}
