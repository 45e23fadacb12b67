/** The connection portal: the only pages of the service that end users see. */

import { readFileSync } from 'node:fs'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { ended } from '@trunkline/core/app/connect/portal-outcome'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSameOriginForm } from '../ops/same-origin-form.ts'
import { serveText } from '../ops/static-text.ts'
import { withOpener } from './answer.ts'
import { colorStylesheet } from './app-view.ts'
import { type CallbackAddress, Callbacks } from './callbacks.ts'
import { linkHash, noteRefusal, type PagesDeps, type PortalContext } from './context.ts'
import { PortalCookies } from './cookies.ts'
import { answerFailures } from './failures.ts'
import { isToken, linkPath, recordOf } from './form.ts'
import { showFrame } from './frame.ts'
import { type BrokerAddress, KeySteps } from './key-steps.ts'
import type { PortalOptions } from './options.ts'
import { OutcomeResponder } from './outcomes.ts'
import { Steps } from './steps.ts'

const STYLESHEETS = ['./portal.css', './controls.css'].map(name => new URL(name, import.meta.url))
/** Scripts for links that `connect.js` opens. No other page of the portal has one. */
const SCRIPTS = ['outcome.js', 'frame.js']
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
/** Immutable, because the URL alone determines the content of a colour's stylesheet. */
const COLOR_CACHE = 'public, max-age=86400, immutable'

/** Mounts the portal at `/connect`. */
export async function portal(app: FastifyInstance, deps: PagesDeps, options: PortalOptions): Promise<void> {
  const cookies = new PortalCookies(deps.hasher, deps.vault, () => options.publicUrl().startsWith('https:'))
  const outcomes = new OutcomeResponder(deps, cookies, options.demo)
  const context: PortalContext = { deps, options, cookies, outcomes, submissions: options.submissions ?? null }
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: 4_096 })
    await scope.register(cookie)
    keepOpeners(scope, context)
    answerFailures(scope, deps.log, options.problemOf)
    mountAssets(scope, context)
    mountSteps(scope, context)
    mountOutcomes(scope, context)
  })
}

/**
 * A window keeps the page that opened it only if no response on its way cuts it off: neither a page of a link that was opened so, nor the
 * answer to a broker's callback, of which the link is known too late.
 */
function keepOpeners(scope: FastifyInstance, context: PortalContext): void {
  scope.addHook('onSend', async (request, reply) => {
    const { token } = recordOf(request.params)
    const link = typeof token === 'string' ? linkHash(context, token) : null
    if (link === null && !request.url.startsWith('/connect/callback/')) return
    if (context.cookies.openers.has(request, link)) withOpener(reply)
  })
}

function mountAssets(scope: FastifyInstance, { outcomes }: PortalContext): void {
  serveText(
    scope,
    '/connect/assets/portal.css',
    () => Buffer.concat(STYLESHEETS.map(url => readFileSync(url))),
    () => ({ 'content-type': CSS, 'x-content-type-options': 'nosniff' })
  )
  for (const name of SCRIPTS) {
    serveText(
      scope,
      `/connect/assets/${name}`,
      () => readFileSync(new URL(`./client/${name}`, import.meta.url)),
      () => ({ 'content-type': JAVASCRIPT, 'x-content-type-options': 'nosniff' })
    )
  }
  scope.get<{ Params: { color: string } }>('/connect/assets/color/:color.css', (request, reply) => {
    const text = colorStylesheet(request.params.color)
    if (text === null) return outcomes.notFound(request, reply)
    return reply.headers({ 'cache-control': COLOR_CACHE, 'x-content-type-options': 'nosniff' }).type(CSS).send(text)
  })
}

function mountSteps(scope: FastifyInstance, context: PortalContext): void {
  const [steps, keySteps] = [new Steps(context), new KeySteps(context)]
  const link = '/connect/:token'
  scope.get<{ Params: { token: string } }>(link, (request, reply) => steps.first(request, request.params.token, reply))
  scope.post<{ Params: { token: string } }>(link, (request, reply) =>
    handleForm(context, request, reply, () => steps.decide(request, request.params.token, null, reply))
  )
  const allow = '/connect/:token/allow/:broker'
  scope.get<{ Params: BrokerAddress }>(allow, (request, reply) => steps.allow(request, request.params.token, request.params.broker, reply))
  scope.post<{ Params: BrokerAddress }>(allow, (request, reply) =>
    handleForm(context, request, reply, () => steps.decide(request, request.params.token, request.params.broker, reply))
  )
  scope.get<{ Params: { token: string } }>('/connect/:token/frame', (request, reply) =>
    showFrame(context, request, request.params.token, reply)
  )
  const keys = '/connect/:token/keys/:broker'
  scope.get<{ Params: BrokerAddress }>(keys, (request, reply) => keySteps.show(request, request.params, reply))
  scope.post<{ Params: BrokerAddress }>(keys, (request, reply) =>
    handleForm(context, request, reply, () => keySteps.enter(request, request.params, reply))
  )
}

function mountOutcomes(scope: FastifyInstance, context: PortalContext): void {
  const { outcomes } = context
  const callbacks = new Callbacks(context)
  // A HEAD would complete the login and use up the state without showing the result.
  for (const address of ['/connect/callback/:broker', '/connect/callback/:broker/:environment'])
    scope.get<{ Params: CallbackAddress }>(address, { exposeHeadRoute: false }, (request, reply) =>
      callbacks.arrive(request, request.params, reply)
    )
  scope.get('/connect/onward', (request, reply) => outcomes.showRedirect(request, reply))
  scope.get<{ Params: { reason: string } }>('/connect/result/:reason', (request, reply) =>
    outcomes.result(request.params.reason, request, reply)
  )
  for (const itself of ['/connect', '/connect/']) scope.get(itself, (request, reply) => outcomes.noLink(request, reply))
  scope.get('/connect/*', (request, reply) => outcomes.notFound(request, reply))
}

/** Executes a form submission, unless it came from another site (CSRF). */
async function handleForm(
  context: PortalContext,
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>
): Promise<FastifyReply> {
  if (isSameOriginForm(request, context.options.publicUrl())) return work()
  noteRefusal(context, request, null, 'foreign_form')
  const { token } = request.params
  return context.outcomes.end(ended(null, 'foreign_form'), request, reply, isToken(token) ? linkPath(token) : null)
}
