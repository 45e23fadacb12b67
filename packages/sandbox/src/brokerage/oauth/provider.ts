/** The OAuth 2 server: oidc-provider, configured for one confidential client and for consent in every login flow. */

import { generateKeyPairSync } from 'node:crypto'
import type { Configuration, JWK, Provider } from 'oidc-provider'
import type { GrantStore } from './grants.ts'
import { errorPage } from './pages.ts'
import { SCOPES } from './scopes.ts'

export const CLIENT_NAME = 'Trunkline'
const REFRESH_TTL_S = 30 * 24 * 3600
const WALK_TTL_S = 30 * 60

/** The keys that must survive a restart. */
export interface OAuthKeys {
  readonly signing: JWK
  readonly cookies: readonly string[]
}

export interface OAuthSetup {
  /** The public origin; the issuer is `/oauth` below it. */
  readonly url: string
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUris: readonly string[] }
  readonly keys: OAuthKeys
  readonly grants: GrantStore
  readonly accessTtlS: () => number
  readonly knowsLogin: (id: string) => boolean
}

export function newOAuthKeys(randomText: () => string): OAuthKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    signing: { ...privateKey.export({ format: 'jwk' }), kty: 'EC', use: 'sig', alg: 'ES256', kid: 'sandbox-1' },
    cookies: [randomText()]
  }
}

export async function openProvider(setup: OAuthSetup): Promise<Provider> {
  const { Provider: Oidc, interactionPolicy } = await importQuietly()
  const policy = interactionPolicy.base()
  // Every login flow requires a new grant: a returning browser must not connect an account silently.
  for (const [name, decided] of [
    ['login', (result: Result) => result?.login !== undefined],
    ['consent', (result: Result) => result?.consent !== undefined]
  ] as const) {
    policy
      .get(name)
      ?.checks.add(new interactionPolicy.Check(`${name}_each_time`, `every login flow requires ${name}`, ctx => !decided(ctx.oidc.result)))
  }
  const provider = new Oidc(`${setup.url}/oauth`, configuration(setup, policy))
  provider.Client.prototype.redirectUriAllowed = (uri: string) => redirectAllowed(uri, setup.client.redirectUris)
  return provider
}

type Result = { readonly login?: unknown; readonly consent?: unknown } | undefined

/** Exactly a registered address; on a loopback host, the port may differ (RFC 8252 §7.3). */
export function redirectAllowed(uri: string, registered: readonly string[]): boolean {
  if (!URL.canParse(uri)) return false
  return registered.some(known => known === uri || (isLoopback(known) && withoutPort(known) === withoutPort(uri)))
}

function isLoopback(uri: string): boolean {
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname))
}

function withoutPort(uri: string): string {
  const url = new URL(uri)
  url.port = ''
  return url.href
}

function configuration(setup: OAuthSetup, policy: NonNullable<NonNullable<Configuration['interactions']>['policy']>): Configuration {
  const off = { enabled: false }
  return {
    adapter: (model: string) => setup.grants.adapter(model),
    clients: [
      {
        client_id: setup.client.id,
        client_secret: setup.client.secret,
        client_name: CLIENT_NAME,
        redirect_uris: [...setup.client.redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256'
      }
    ],
    jwks: { keys: [setup.keys.signing] },
    cookies: {
      keys: [...setup.keys.cookies],
      names: { session: 'sandbox_session', interaction: 'sandbox_interaction', resume: 'sandbox_resume' }
    },
    scopes: ['openid', ...SCOPES],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    pkce: { required: () => true },
    features: {
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      resourceIndicators: off,
      rpInitiatedLogout: off,
      userinfo: off,
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId }
    },
    findAccount: (_ctx, id) => (setup.knowsLogin(id) ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
    interactions: { policy, url: (_ctx, interaction) => `/login/${interaction.uid}` },
    loadExistingGrant: async ctx => {
      const granted = ctx.oidc.result?.consent?.grantId
      return granted === undefined ? undefined : ctx.oidc.provider.Grant.find(granted)
    },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    ttl: {
      AccessToken: setup.accessTtlS,
      AuthorizationCode: 60,
      IdToken: 600,
      RefreshToken: REFRESH_TTL_S,
      Grant: REFRESH_TTL_S * 12,
      Interaction: WALK_TTL_S,
      Session: WALK_TTL_S
    },
    renderError: (ctx, out) => {
      ctx.type = 'html'
      ctx.body = errorPage(out.error, out.error_description)
    }
  }
}

/** Its warning about the runtime is for those who choose the runtime, not for users who start the sandbox. */
async function importQuietly(): Promise<typeof import('oidc-provider')> {
  const warn = console.warn
  console.warn = () => undefined
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}
