import type { Settings } from '../config/settings.ts'

/** Where the provider sends the browser, below the public URL. It is registered there, so it is part of our contract. */
export const CALLBACK_PATH = '/admin/v1/oidc/callback'

/** A login provider, and what is asked of it. */
export interface ProviderOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** OAuth scopes to request, with `openid` among them. */
  readonly request: string
  readonly operatorClaim: string
  readonly grantClaim: string
  /** How long each request may take; five seconds unless it is set. */
  readonly requestMs?: number
}

/** Null if there is no provider, or a setting of it is missing. */
export function providerOptions(settings: Partial<Settings>): ProviderOptions | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRequest: request } = settings
  const { oidcOperatorClaim: operatorClaim, oidcGrantClaim: grantClaim } = settings
  if (issuer == null || clientId == null || clientSecret == null) return null
  if (request === undefined || operatorClaim === undefined || grantClaim === undefined) return null
  return { issuer, clientId, clientSecret, request, operatorClaim, grantClaim }
}
