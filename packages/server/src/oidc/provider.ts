// The OIDC provider that operators log in with: its discovery, the address of a login, and who came back. The library does the protocol.
import type { ProvenIdentity } from '@trunkline/core/app/operators/provider-login'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import * as client from 'openid-client'
import { isSafe } from '../config/oidc-settings.ts'
import { emailIsProven, identityOf, mergedClaims } from './claims.ts'
import { LoginRefused, ProviderUnavailable } from './faults.ts'
import type { ProviderOptions } from './options.ts'
import { ProviderHttp } from './provider-http.ts'

/** What a login is begun with. Each is random and used once. */
export interface LoginSecrets {
  readonly state: string
  readonly nonce: string
  /** Of the code challenge (PKCE, S256). */
  readonly verifier: string
}

const REQUEST_MS = 5_000
/** How old the discovery document may be. The library reads the keys again after five minutes, for an unknown one after a minute. */
const DISCOVERED_MS = 3_600_000
/** A provider that failed is asked again after this time: visitors must not make requests to it without end. */
const FAILED_MS = 2_000
/** By how much the provider's clock may differ from ours. */
const TOLERANCE_SECONDS = 30
/** The parameters of the provider's redirect that are used. Others would select another flow in the library. */
const SINGLE = ['code', 'state', 'iss', 'error']
/** The addresses that every login needs. */
const NEEDED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
const UNREADABLE = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_PARSE_ERROR',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM'
])

interface Discovered {
  readonly at: number
  readonly configuration: Promise<client.Configuration>
  hasFailed: boolean
}

/** A provider. Nothing is asked of it before the first login. */
export class LoginProvider implements AsyncDisposable {
  readonly host: string
  readonly #options: ProviderOptions
  readonly #clock: Pick<Clock, 'monotonicMs' | 'now'>
  readonly #http: ProviderHttp
  #discovered: Discovered | null = null

  constructor(options: ProviderOptions, clock: Pick<Clock, 'monotonicMs' | 'now'>) {
    this.#options = options
    this.#clock = clock
    this.#http = new ProviderHttp(options.requestMs ?? REQUEST_MS)
    this.host = new URL(options.issuer).host
  }

  /** What its discovery document says. @throws ProviderUnavailable */
  async metadata(): Promise<Readonly<client.ServerMetadata>> {
    return (await this.#configuration()).serverMetadata()
  }

  /** The address at which the person logs in. @throws ProviderUnavailable */
  async begin(redirectUri: string, { state, nonce, verifier }: LoginSecrets): Promise<string> {
    const configuration = await this.#configuration()
    const challenge = await client.calculatePKCECodeChallenge(verifier)
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#options.request,
      ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' }
    }).href
  }

  /**
   * Whom the provider's redirect proves. `answer`: its query. The code is exchanged, and the ID token checked: signature, issuer, audience,
   * times, nonce. @throws ProviderUnavailable, LoginRefused
   */
  async complete(redirectUri: string, answer: string, { state, nonce, verifier }: LoginSecrets): Promise<ProvenIdentity> {
    const callback = callbackOf(redirectUri, answer)
    const configuration = await this.#configuration()
    const { operatorClaim, grantClaim } = this.#options
    try {
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
        idTokenExpected: true
      })
      const proven = tokens.claims()
      if (proven === undefined) throw new LoginRefused('sent no ID token')
      this.#demandOurs(proven)
      const isWhole = [operatorClaim, grantClaim].every(name => proven[name] !== undefined && emailIsProven(proven, name))
      const more =
        isWhole || configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await client.fetchUserInfo(configuration, tokens.access_token, proven.sub)
      return identityOf(mergedClaims(proven, more), { host: this.host, subject: proven.sub, operatorClaim, grantClaim })
    } catch (cause) {
      throw faultOf(cause)
    }
  }

  /** Ends what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]()
  }

  /** What the library does not check (OpenID Connect Core, 3.1.3.7). @throws LoginRefused */
  #demandOurs({ iat, azp }: client.IDToken): void {
    const latest = epochMs(this.#clock.now()) / 1_000 + TOLERANCE_SECONDS
    if (!(iat <= latest)) throw new LoginRefused('sent an ID token that was issued in the future: its clock or ours is wrong')
    if (azp !== undefined && azp !== this.#options.clientId) throw new LoginRefused('sent an ID token that was issued to another client')
  }

  #configuration(): Promise<client.Configuration> {
    const now = this.#clock.monotonicMs()
    const known = this.#discovered
    if (known !== null && now - known.at < (known.hasFailed ? FAILED_MS : DISCOVERED_MS)) return known.configuration
    const discovered: Discovered = { at: now, configuration: this.#discover(), hasFailed: false }
    discovered.configuration.catch(() => {
      discovered.hasFailed = true
    })
    this.#discovered = discovered
    return discovered.configuration
  }

  async #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret, requestMs = REQUEST_MS } = this.#options
    const isPlain = issuer.startsWith('http:')
    try {
      const configuration = await client.discovery(
        new URL(issuer),
        clientId,
        { client_secret: clientSecret, [client.clockTolerance]: TOLERANCE_SECONDS },
        (server, own, body, headers) => authenticationAt(server, clientSecret)(server, own, body, headers),
        {
          [client.customFetch]: this.#http.fetch,
          timeout: requestMs / 1_000,
          // Without it the library trusts the connection to the token endpoint, and does not look at the ID token's signature.
          execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])]
        }
      )
      demandIssuer(configuration.serverMetadata(), issuer)
      demandAddresses(configuration.serverMetadata())
      return configuration
    } catch (cause) {
      const fault = faultOf(cause)
      throw fault instanceof ProviderUnavailable ? fault : new ProviderUnavailable(fault.message)
    }
  }
}

/** The library takes some providers' documents for several issuers: one of many tenants could then name the people of another. */
function demandIssuer({ issuer }: client.ServerMetadata, expected: string): void {
  if (issuer !== expected) throw new ProviderUnavailable(`calls itself ${issuer.slice(0, 200)}, and not ${expected}`)
}

/** All addresses of the document are judged when it is read: it is kept for an hour, and a login would end in the middle. */
function demandAddresses(document: client.ServerMetadata): void {
  const given = new Map<string, unknown>(Object.entries(document))
  const named = [...given.keys()].filter(name => name.endsWith('_endpoint') || name === 'jwks_uri')
  for (const name of new Set([...NEEDED, ...named])) {
    const address = given.get(name)
    const url = typeof address === 'string' ? URL.parse(address) : null
    if (url === null || !isSafe(url)) throw new ProviderUnavailable(`names no address that can be used as its ${name}: it must be https`)
  }
}

/** As the provider takes it; with HTTP's own authentication unless it offers the form only. */
function authenticationAt({ token_endpoint_auth_methods_supported: offered }: client.ServerMetadata, secret: string): client.ClientAuth {
  const isFormOnly = offered !== undefined && !offered.includes('client_secret_basic') && offered.includes('client_secret_post')
  return isFormOnly ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret)
}

/** The registered address with the parameters that the provider added. */
function callbackOf(redirectUri: string, answer: string): URL {
  const came = new URLSearchParams(answer)
  const twice = SINGLE.find(name => came.getAll(name).length > 1)
  if (twice !== undefined) throw new LoginRefused(`sent ${twice} more than once`)
  if (came.has('code') === came.has('error')) throw new LoginRefused('sent neither a code nor an error alone')
  const callback = new URL(redirectUri)
  for (const name of SINGLE) for (const value of came.getAll(name)) callback.searchParams.append(name, value)
  return callback
}

/** The library's own errors hold the code, the state or the answer, so they go no further. */
function faultOf(cause: unknown): ProviderUnavailable | LoginRefused {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  for (const candidate of [cause, inner])
    if (candidate instanceof ProviderUnavailable || candidate instanceof LoginRefused) return candidate
  if (cause instanceof client.AuthorizationResponseError) return new LoginRefused(`did not log you in (${shortened(cause.error)})`)
  const isUnknownClient =
    cause instanceof client.WWWAuthenticateChallengeError ||
    (cause instanceof client.ResponseBodyError && /^(invalid|unauthorized)_client$/.test(cause.error))
  if (isUnknownClient)
    return new ProviderUnavailable('refuses this service itself: TRUNKLINE_OIDC_CLIENT_ID or TRUNKLINE_OIDC_CLIENT_SECRET is wrong')
  if (cause instanceof client.ResponseBodyError) return new LoginRefused(`refused the login (${shortened(cause.error)})`)
  const code = cause instanceof client.ClientError ? cause.code : undefined
  if (code !== undefined && UNREADABLE.has(code)) return new ProviderUnavailable(`sent an answer that cannot be used (${code})`)
  return new LoginRefused(`sent an answer that proves nobody${code === undefined ? '' : ` (${code})`}`)
}

/** Of the provider's own codes. */
function shortened(error: string): string {
  return /^[\w-]{1,40}$/.test(error) ? error : 'an unknown error'
}
