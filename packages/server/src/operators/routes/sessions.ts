import { operatorAudit, SESSION_MS } from '@trunkline/core/app/operators/access'
import { type Operation, openOperation, operation } from '../endpoint.ts'
import { codeTicket, endedSession, presentSession, sessionRecord } from '../records.ts'

const HOURS = SESSION_MS / 3_600_000

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
    description: 'Ends the session at once, at every node. With a key there is nothing to end.',
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
