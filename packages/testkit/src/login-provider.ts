// A real OIDC provider on a socket, for tests of logins by one: it can be made to lie, and a person logs in there by one form.

import type { webcrypto } from 'node:crypto'
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'

export const CLIENT = { id: 'trunkline', secret: 'canary-secret-of-the-client' } as const
const CALLBACK = '/admin/v1/oidc/callback'
const KEY_ID = 'first'

/** What the provider knows about a person. */
export type Claims = Readonly<Record<string, unknown>>

/** Changes an answer of the provider before it is sent. */
export type Twist = (body: Record<string, unknown>) => unknown

/** The answers that can be changed. */
export type Answer = 'discovery' | 'token' | 'jwks' | 'userinfo'

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/token': 'token',
  '/jwks': 'jwks',
  '/me': 'userinfo'
}

export class TestLoginProvider implements AsyncDisposable {
  /** Who logs in next. */
  identity: Claims = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['traders'] }
  /** How its answers are changed. */
  readonly twists = new Map<Answer, Twist>()
  /** The paths that were requested, oldest first. */
  readonly requested: string[] = []
  readonly issuer: string
  readonly #server: Server
  readonly #key: KeyObject

  private constructor(server: Server, issuer: string, key: KeyObject) {
    this.#server = server
    this.issuer = issuer
    this.#key = key
  }

  /**
   * @param claimsIn where the claims besides `sub` are
   * @param host the name of this machine in its addresses; for a browser, `localhost` and `127.0.0.1` are different sites
   */
  static async start(
    claimsIn: 'id_token' | 'userinfo' = 'id_token',
    host: 'localhost' | '127.0.0.1' = '127.0.0.1'
  ): Promise<TestLoginProvider> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('expected the server to listen on a port')
    const issuer = `http://${host}:${address.port}`
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const kit = new TestLoginProvider(server, issuer, privateKey)
    const provider = await opened(kit, privateKey.export({ format: 'jwk' }), claimsIn)
    const serve = provider.callback()
    server.on('request', (request, response) => {
      kit.requested.push((request.url ?? '').replace(/\?.*/, ''))
      if (request.url?.startsWith('/interaction/') === true) void interact(kit, provider, request, response)
      else void serve(request, response)
    })
    return kit
  }

  /** Signed with the provider's key, or another one; a text is a secret for HS256, null leaves the signature out. */
  idToken(claims: Claims, header: Claims = { alg: 'ES256', kid: KEY_ID }, key: KeyObject | string | null = this.#key): string {
    const text = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${text}.${signatureOf(text, key)}`
  }

  /** Changes the claims of the ID tokens that it sends from now on. */
  lieInToken(change: (claims: Claims) => string): void {
    this.twists.set('token', body => ({ ...body, id_token: change(claimsIn(String(body.id_token))) }))
  }

  /** Logs the person in, as a browser with cookies of its own would; the address that the provider sends it back to. */
  async logIn(authorizationUrl: string): Promise<string> {
    const cookies = new Map<string, string>()
    let url = authorizationUrl
    let method = 'GET'
    for (let steps = 0; steps < 10; steps++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await fetch(url, { method, redirect: 'manual', headers: { cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        cookies.set(name, value)
      }
      const location = answer.headers.get('location')
      if (location === null) {
        if (!answer.ok) throw new Error(`the provider refused: ${answer.status} ${(await answer.text()).slice(0, 300)}`)
        // Its page, whose form has the page's own address.
        method = 'POST'
        continue
      }
      url = new URL(location, url).href
      method = 'GET'
      if (!url.startsWith(this.issuer)) return url
    }
    throw new Error('expected the provider to send the browser back')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

function signatureOf(text: string, key: KeyObject | string | null): string {
  if (key === null) return ''
  if (typeof key === 'string') return createHmac('sha256', key).update(text).digest('base64url')
  return sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

/** The claims of a token, unchecked. */
function claimsIn(token: string): Claims {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return typeof claims === 'object' && claims !== null ? { ...claims } : {}
}

async function opened(kit: TestLoginProvider, key: webcrypto.JsonWebKey, claimsIn: 'id_token' | 'userinfo'): Promise<Provider> {
  const { Provider: Oidc } = await import('oidc-provider')
  const provider: Provider = new Oidc(kit.issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [`http://127.0.0.1${CALLBACK}`] },
        ...{ grant_types: ['authorization_code'], response_types: ['code'], id_token_signed_response_alg: 'ES256' }
      }
    ],
    jwks: { keys: [{ ...key, kty: 'EC', use: 'sig', alg: 'ES256', kid: KEY_ID }] },
    cookies: { keys: [createHash('sha256').update(kit.issuer).digest('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: claimsIn === 'userinfo',
    responseTypes: ['code'],
    pkce: { required: () => true },
    ttl: { Session: 3_600, Interaction: 3_600, Grant: 3_600, AccessToken: 3_600, AuthorizationCode: 60, IdToken: 3_600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...kit.identity, sub: id }) }),
    // Nobody is asked for consent: the client belongs to the provider's own company.
    loadExistingGrant: async ctx => {
      const grant = new ctx.oidc.provider.Grant({ accountId: ctx.oidc.account?.accountId, clientId: ctx.oidc.client?.clientId })
      grant.addOIDCScope('openid email groups')
      await grant.save()
      return grant
    }
  })
  // The port of a service under test is free: it is known only once it runs.
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    /^http:\/\/(127\.0\.0\.1|localhost):\d+\/admin\/v1\/oidc\/callback$/.test(uri)
  provider.use(async (ctx, next) => {
    await next()
    const twist = kit.twists.get(ANSWERS[ctx.path] ?? 'discovery')
    if (ANSWERS[ctx.path] !== undefined && twist !== undefined && typeof ctx.body === 'object') ctx.body = twist({ ...ctx.body })
  })
  return provider
}

/** The provider's page, and what its form sends. */
async function interact(kit: TestLoginProvider, provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    const form = '<h1>Log in at the provider</h1><form method="post"><button>Continue</button> <button name="no">Cancel</button></form>'
    response.setHeader('content-type', 'text/html').end(`<!doctype html><html lang="en"><title>Provider</title>${form}</html>`)
    return
  }
  const sent = await request.toArray()
  const isDeclined = Buffer.concat(sent).toString().startsWith('no=')
  const result = isDeclined ? { error: 'access_denied' } : { login: { accountId: String(kit.identity.sub) } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}
