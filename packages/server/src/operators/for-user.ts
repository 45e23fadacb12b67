// Endpoints of the platforms' API as operations for operators, who act for a user instead of the platform.
import { practisingUser } from '@trunkline/core/app/operators/practising-user'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { UserEndpoint } from '../http/endpoint.ts'
import { WithHeaders } from '../http/headed.ts'
import { readPath, uuidInPath } from '../http/params.ts'
import type { ProvenOperation } from './endpoint.ts'

const params = { user_key: uuidInPath<UserKey>('The user, all of whose connections are to the sandbox.') }
const WHO =
  'Only for an enabled user all of whose connections are to the sandbox, which is checked with each request; with several nodes, only at the node that owns the user, which another one names.'

/**
 * The same parameters, body, answer and work as the endpoint has, with an operator proven instead of the platform and its user.
 * `repetition`: what a change does when it is sent again.
 */
export function forUser(endpoint: UserEndpoint, repetition?: string): ProvenOperation {
  const { method, path, operationId, summary, query, body, bodyExample, success, failures = [] } = endpoint
  const { status, description, schema } = success
  const same = `As \`${method} ${path.replace(/:(\w+)/g, '{$1}')}\` of the platforms’ API.`
  return {
    access: 'operator',
    scope: 'sandbox',
    tag: 'Trading',
    method,
    path: `/sandbox/users/:user_key${path}`,
    operationId: `${operationId}ForUser`,
    summary,
    description: [same, WHO, ...(repetition === undefined ? [] : [repetition])].join(' '),
    failures: [...new Set([...failures, 'user_not_found', 'user_not_tradable', 'broker_unavailable'] as const)],
    params: { ...params, ...endpoint.params },
    query,
    body,
    bodyExample,
    success: { status, description, schema },
    prepare({ user_key, ...rest }, given) {
      const user = readPath(params, { user_key })
      const prepared = endpoint.prepare(rest, given)
      return async (caller, request, reply, { trading }) => {
        const acting = await practisingUser(trading.deps, caller, user.user_key)
        const answer = await prepared(acting, request.body, trading)
        if (!(answer instanceof WithHeaders)) return answer
        reply.headers(answer.headers)
        return answer.body
      }
    }
  }
}
