import { operatorAudit, SESSION_MS } from '@trunkline/core/app/operators/access'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, openOperation, operation } from '../endpoint.ts'
import type { ProviderLogins } from '../provider-logins.ts'
import {
  answerTicket,
  begunLogin,
  codeTicket,
  endedSession,
  loginOptions,
  loginTicket,
  presentSession,
  providerSession,
  sessionRecord
} from '../records.ts'

const HOURS = SESSION_MS / 3_600_000
const OWN_PAGE = 'Needs the headers `origin` (the service’s own) and `x-trunkline-operator: 1`.'

export const SESSIONS: readonly Operation[] = [
  openOperation({
    method: 'POST',
    path: '/sessions',
    scope: 'none',
    operationId: 'createOperatorSession',
    tag: 'Sessions',
    summary: 'Exchange a code for a session',
    description: `Sets the cookie of the session, which ends ${HOURS} hours later, or when it was not used for 30 minutes. The code is in the body, never in
an address, where proxies would log it. Needs the headers \`origin\` (the service’s own) and \`x-trunkline-operator: 1\`, as every request with a cookie
that is not GET.`,
    body: codeTicket,
    bodyExample: { code: 'oc_4mVwXyDq0m3n8cK1sT7bZ2rJ9eH5gL6fQ' },
    success: { status: 201, description: 'Who is logged in now.', schema: sessionRecord },
    async handle({ body, request, reply }, { access }) {
      const session = await access.enter(request, reply, body.code)
      return presentSession(session.operator, session.scopes, session)
    }
  }),
  openOperation({
    method: 'GET',
    path: '/login-options',
    scope: 'none',
    operationId: 'readOperatorLoginOptions',
    tag: 'Sessions',
    summary: 'Read how operators can log in',
    success: { status: 200, description: 'Whether there is a login provider.', schema: loginOptions },
    async handle(_call, { logins }) {
      return { provider: logins === null ? null : { name: logins.name } }
    }
  }),
  openOperation({
    method: 'POST',
    path: '/oidc/logins',
    scope: 'none',
    outsidePlaces: true,
    operationId: 'beginProviderLogin',
    tag: 'Sessions',
    summary: 'Begin a login by the provider',
    description: `Sets a cookie that binds the login to this browser for ten minutes; a login that was begun before it is given up. ${OWN_PAGE}`,
    body: loginTicket,
    bodyExample: { return_to: '/console/orders' },
    success: { status: 201, description: 'Where the browser goes to log in.', schema: begunLogin },
    failures: ['session_exists', 'login_provider_unavailable', 'route_not_found'],
    async handle({ body, request, reply }, deps) {
      return { authorization_url: await loginsOf(deps).begin(request, reply, body.return_to) }
    }
  }),
  openOperation({
    method: 'POST',
    path: '/oidc/sessions',
    scope: 'none',
    outsidePlaces: true,
    operationId: 'createProviderSession',
    tag: 'Sessions',
    summary: 'Complete a login by the provider',
    description: `Done by the page at the callback. Exchanges the provider’s code, checks its ID token, and sets the cookie of a session like one of
a code. Each login is completed once, in the browser that began it. A session that this browser has is not replaced. ${OWN_PAGE}`,
    body: answerTicket,
    bodyExample: { answer: '?code=Xk3vQ…&state=pO8yT…&iss=https%3A%2F%2Flogin.example.com' },
    success: { status: 201, description: 'Who is logged in now.', schema: providerSession },
    failures: ['session_exists', 'scope_missing', 'login_provider_unavailable', 'route_not_found'],
    async handle({ body, request, reply }, deps) {
      const { session, returnTo } = await loginsOf(deps).complete(request, reply, body.answer)
      return { session: presentSession(session.operator, session.scopes, session), return_to: returnTo }
    }
  }),
  operation({
    method: 'GET',
    path: '/session',
    scope: 'read',
    anyScope: true,
    operationId: 'readOperatorSession',
    tag: 'Sessions',
    summary: 'Read who is logged in',
    success: { status: 200, description: 'The session, or what the key may do.', schema: sessionRecord },
    async handle({ caller: { operator, scopes, session } }) {
      return presentSession(operator, scopes, session)
    }
  }),
  operation({
    method: 'DELETE',
    path: '/session',
    scope: 'read',
    anyScope: true,
    operationId: 'endOperatorSession',
    tag: 'Sessions',
    summary: 'Log out',
    description: 'Ends the session at once, at every node. The login at a provider goes on. With a key there is nothing to end.',
    success: { status: 200, description: 'What has ended.', schema: endedSession },
    async handle({ caller, reply }, { access, operators, app }) {
      const { session } = caller
      if (session !== null) {
        const entry = operatorAudit(app.clock, caller, 'operator.logout', session.sessionId)
        await operators.endSession(session.sessionId, entry)
      }
      // Not before: a session that could not be ended can be ended again.
      access.leave(reply)
      return { session_id: session?.sessionId ?? null }
    }
  })
]

function loginsOf({ logins }: OperatorDeps): ProviderLogins {
  if (logins !== null) return logins
  throw new ServiceError('route_not_found', 'This service has no login provider. Log in with a code: npm run cli -- operator link')
}
