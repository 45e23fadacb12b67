// What this node answers when another one asks on behalf of an operator.
import type { AppDeps } from '@trunkline/core/app/application'
import type { AnsweredRequest, RequestLog } from '../request-log.ts'
import type { ServiceState } from '../service-state.ts'
import type { FollowedAnswer, NodeQuestion, OverviewAnswer, RequestFilter, RequestsAnswer } from './messages.ts'

export interface AnswersDeps {
  readonly service: ServiceState
  readonly requests: RequestLog
  readonly mirrors: Pick<AppDeps['mirrors'], 'health' | 'leftOut'>
}

/** Answers only of this node's own memory: what is stored, the asking node reads itself. */
export async function answerTo(deps: AnswersDeps, question: NodeQuestion): Promise<OverviewAnswer | RequestsAnswer | FollowedAnswer> {
  if (question.kind === 'overview') return await overviewOf(deps)
  if (question.kind === 'requests') return { requests: [...requestsOf(deps.requests, question.filter, question.limit)] }
  return {
    connections: question.connections.map(({ connectionId, createdAt }) => {
      const active = { connectionId, createdAt, updatedAt: createdAt, status: 'ACTIVE', brokenReason: null } as const
      return { connectionId, health: deps.mirrors.health(active), leftOut: deps.mirrors.leftOut(active) }
    })
  }
}

export async function overviewOf({ service, requests }: Pick<AnswersDeps, 'service' | 'requests'>): Promise<OverviewAnswer> {
  const minutes = requests.minutes().map(({ atMs, requests: all, errors }) => ({ atMs, requests: all, errors: { ...errors } }))
  return { version: service.version, startedAt: service.startedAt, problem: await service.problem(), minutes }
}

/** The newest first. */
export function requestsOf(log: RequestLog, filter: RequestFilter, limit: number): readonly AnsweredRequest[] {
  const wanted = [filter.code, filter.requestId, filter.platformId, filter.userKey]
  const fits = ({ code, requestId, platformId, userKey }: AnsweredRequest) =>
    [code, requestId, platformId, userKey].every((found, at) => wanted[at] === null || wanted[at] === found)
  return log.newest(filter.isFailed || filter.code !== null ? 'failed' : 'all', limit, fits)
}
