/** The OAuth endpoints and the login pages, on the public port. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import type { Answer, ResponseWriter } from '../api/response-writer.ts'
import type { Customer, Customers } from '../customers.ts'
import { type Faults, NO_FACTS, type Operation } from '../faults.ts'
import { Answered } from './answered.ts'
import { consentPage, errorPage, loginPage, welcomePage } from './pages.ts'
import { CLIENT_NAME } from './provider.ts'
import { SCOPES, type Scope } from './scopes.ts'
import { WrongLogins } from './wrong-logins.ts'

export interface OAuthRoutesDeps {
  /** Undefined until the sandbox has its address. */
  readonly provider: () => Provider | undefined
  readonly customers: Customers
  readonly faults: Faults
  readonly responseWriter: ResponseWriter
  /** Real time in milliseconds. */
  readonly now: () => number
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // No form-action: browsers apply it to all redirects after a form, and those end at addresses that the sandbox cannot list.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer'
}

const OPERATION_OF: Readonly<Record<string, Operation>> = {
  '/oauth/token': 'token',
  '/oauth/token/revocation': 'revoke',
  '/oauth/auth': 'authorize'
}

/** The names of the session cookies: an earlier login flow of the browser must not affect this one. */
const SESSION_COOKIE = /(?:^|;\s*)sandbox_session(?:\.sig)?=[^;]*/g

/** The path where oidc-provider continues after a decision, followed by the id of the interaction. */
const RESUMED = /^\/oauth\/auth\/([\w-]+)$/

export function oauthRoutes(app: FastifyInstance, deps: OAuthRoutesDeps): void {
  const answered = new Answered(deps.now)
  app.get('/', (_request, reply) => reply.headers(PAGE_HEADERS).send(welcomePage()))
  app.register(async scope => {
    // oidc-provider reads the bodies of its own endpoints.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all('/oauth/*', (request, reply) => bridge(deps, answered, request, reply))
  })
  app.register(async scope => {
    await scope.register(formbody, { bodyLimit: 16 * 1024 })
    const wrong = new WrongLogins()
    scope.get('/login/:interaction', async (request, reply) => {
      const interaction = await detailsOf(deps, request, reply)
      if (interaction === undefined) return reply
      const customer = customerOf(deps, interaction)
      return page(
        reply,
        200,
        customer === undefined ? loginShown(interaction, wrong.of(interaction.uid)) : consentShown(deps, interaction, customer)
      )
    })
    scope.post<{ Params: { interaction: string } }>('/login/:interaction', async (request, reply) => {
      const again = await sameClick(answered, request.params.interaction, request)
      if (again !== null) return reply.redirect(again, 303)
      const interaction = await detailsOf(deps, request, reply)
      if (interaction !== undefined) await decide(deps, interaction, { request, reply, wrong })
      return reply
    })
  })
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function decide(
  deps: OAuthRoutesDeps,
  interaction: Interaction,
  exchange: Exchange & { readonly wrong: WrongLogins }
): Promise<unknown> {
  const { request, reply } = exchange
  const form = formOf(request.body)
  const customer = customerOf(deps, interaction)
  if (form.decision === 'decline')
    return finish(deps, { request, reply }, { error: 'access_denied', error_description: 'the user declined' })
  if (form.decision !== 'approve') return page(reply, 400, errorPage('bad_request', 'the form was sent without a decision'))
  // The login form was clicked twice: the consent page must be shown before it can be approved.
  if (form.isLogin && customer !== undefined) return reply.redirect(request.url, 303)
  if (customer === undefined) return logIn(deps, interaction, exchange)
  const grantId = await grantFor(deps, interaction, customer)
  return finish(deps, { request, reply }, { login: { accountId: customer.id }, consent: { grantId } })
}

/** After either outcome, the next page is loaded with GET: reloading it, or going back to it, does not send the password again. */
async function logIn(
  deps: OAuthRoutesDeps,
  interaction: Interaction,
  { request, reply, wrong }: Exchange & { readonly wrong: WrongLogins }
): Promise<unknown> {
  const { username, password } = formOf(request.body)
  const customer = deps.customers.check(username, password)
  if (customer === undefined) wrong.note(interaction.uid, username)
  else {
    interaction.result = { login: { accountId: customer.id } }
    await interaction.save(interaction.exp - Math.floor(deps.now() / 1000))
  }
  return reply.redirect(request.url, 303)
}

async function grantFor({ provider }: OAuthRoutesDeps, interaction: Interaction, customer: Customer): Promise<string> {
  const oidc = provider()
  if (oidc === undefined) throw new Error('the sandbox is not open yet')
  const grant = new oidc.Grant({ accountId: customer.id, clientId: String(interaction.params.client_id) })
  grant.addOIDCScope(String(interaction.params.scope ?? ''))
  return grant.save()
}

async function finish({ provider }: OAuthRoutesDeps, { request, reply }: Exchange, result: object): Promise<void> {
  reply.hijack()
  await provider()?.interactionFinished(request.raw, reply.raw, { ...result }, { mergeWithLastSubmission: false })
}

/** The redirect of the first of two clicks, for the browser that has the login's cookie. */
async function sameClick(answered: Answered, login: string, { headers }: FastifyRequest): Promise<string | null> {
  return headers.cookie?.includes(login) === true ? answered.of(login) : null
}

/** The interaction of this browser; sends the response itself if there is none. */
async function detailsOf({ provider }: OAuthRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<Interaction | undefined> {
  try {
    return await provider()?.interactionDetails(request.raw, reply.raw)
  } catch {
    page(reply, 400, errorPage('login_unknown', 'it has expired, was completed already, or was opened in another browser'))
    return undefined
  }
}

function customerOf({ customers }: OAuthRoutesDeps, interaction: Interaction): Customer | undefined {
  const id = interaction.result?.login?.accountId
  return id === undefined ? undefined : customers.byId(id)
}

function loginShown(interaction: Interaction, wrongUsername: string | null): string {
  return loginPage({
    action: `/login/${interaction.uid}`,
    app: CLIENT_NAME,
    redirectUri: String(interaction.params.redirect_uri),
    wrongUsername
  })
}

function consentShown({ customers }: OAuthRoutesDeps, interaction: Interaction, customer: Customer): string {
  const requested = String(interaction.params.scope ?? '').split(' ')
  const scopes = SCOPES.filter((scope): scope is Scope => requested.includes(scope))
  return consentPage({
    action: `/login/${interaction.uid}`,
    app: CLIENT_NAME,
    redirectUri: String(interaction.params.redirect_uri),
    customer: customer.name,
    scopes,
    accounts: customers.accountsOf(customer.id)
  })
}

function page(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.status(status).headers(PAGE_HEADERS).send(html)
}

interface Form {
  readonly decision: string
  readonly username: string
  readonly password: string
  /** Whether the form has these two fields. */
  readonly isLogin: boolean
}

function formOf(body: unknown): Form {
  const given = (name: string): unknown => (typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined)
  const read = (name: string, most: number) => {
    const value = given(name)
    return typeof value === 'string' ? value.slice(0, most) : ''
  }
  const fields = { decision: read('decision', 16), username: read('username', 64).trim(), password: read('password', 128) }
  return { ...fields, isLogin: given('username') !== undefined }
}

/** Passes a request to oidc-provider, whose paths are below `/oauth`, and applies faults to the response. */
async function bridge(
  { provider, faults, responseWriter }: OAuthRoutesDeps,
  answered: Answered,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<unknown> {
  const oidc = provider()
  if (oidc === undefined) return page(reply, 503, errorPage('not_open', 'the sandbox is still starting'))
  const { raw } = request
  const original = raw.url ?? '/'
  const [, resumed] = RESUMED.exec(original) ?? []
  const again = resumed === undefined ? null : await sameClick(answered, resumed, request)
  if (again !== null) return reply.redirect(again, 303)
  reply.hijack()
  const operation = OPERATION_OF[original.split('?', 1)[0] ?? '']
  const cookie = raw.headers.cookie?.replace(SESSION_COOKIE, '')
  if (cookie === undefined || cookie === '') delete raw.headers.cookie
  else raw.headers.cookie = cookie
  Object.assign(raw, { originalUrl: original, url: original.slice('/oauth'.length) })
  const handle = oidc.callback()
  if (resumed !== undefined) return resume(answered, resumed, { handled: captured(handle, raw, reply.raw), response: reply.raw })
  if (operation === undefined) return handle(raw, reply.raw)
  const fault = faults.none ? undefined : faults.take(operation, NO_FACTS)
  const carryOut = () => captured(handle, raw, reply.raw)
  const problem = (
    { status, message, detail }: { readonly status: number; readonly message: string; readonly detail: { readonly retryAfter?: number } },
    code: string | null
  ): Answer => ({
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(detail.retryAfter === undefined ? {} : { 'retry-after': String(detail.retryAfter) })
    },
    text: JSON.stringify({
      error: code ?? (status === 401 ? 'invalid_client' : status === 400 ? 'invalid_grant' : 'temporarily_unavailable'),
      error_description: message
    })
  })
  return responseWriter.serve({ operation, response: reply.raw, fault, carryOut, problem })
}

/** Sends oidc-provider's response to a decision and remembers its redirect, because the decision may be repeated. */
async function resume(
  answered: Answered,
  login: string,
  { handled, response }: { readonly handled: Promise<Answer>; readonly response: ServerResponse }
): Promise<void> {
  const led = handled.then(({ status, headers: { location } }) => (status === 303 && typeof location === 'string' ? location : null))
  answered.note(
    login,
    led.catch(() => null)
  )
  const { status, headers, text } = await handled
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.writeHead(status).end(text)
}

/** Captures the response of oidc-provider instead of sending it. */
function captured(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  request: IncomingMessage,
  response: ServerResponse
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const end = response.end
  const restored = (chunk: unknown) => {
    response.end = end
    const headers: Record<string, string | number | readonly string[]> = {}
    for (const [name, value] of Object.entries(response.getHeaders()))
      if (value !== undefined && name !== 'content-length') headers[name] = value
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    resolve({ status: response.statusCode, headers, text: typeof chunk === 'string' || Buffer.isBuffer(chunk) ? String(chunk) : '' })
    return response
  }
  response.end = restored
  handle(request, response).catch(reject)
  return promise
}
