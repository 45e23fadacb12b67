// What a node asks the owners of users that it follows, and their answers: how the users' connections are.
import { type ConnectionHealth, HEALTH_STATES } from '@trunkline/core/domain/account'
import type { ConnectionId, NodeId, UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import Type from 'typebox'
import { Compile } from 'typebox/compile'

/** The path between nodes. */
export const HEALTH_PATH = '/nodes/health'
/** Most users of whom everything is asked for at a time. */
export const ASKED_USERS_MAX = 500

/** What is asked for: of all users that the node follows, what has changed; and of some of them, everything. */
export interface HealthQuestion {
  readonly nodeId: NodeId
  /** Changes after this one, in the owner's count. */
  readonly after: number
  readonly users: readonly UserKey[]
}

export interface UserHealth {
  readonly userKey: UserKey
  readonly connectionId: ConnectionId
  readonly health: ConnectionHealth
}

export interface HealthAnswer {
  /** The change up to which the answer is complete, in the owner's count. */
  readonly until: number
  /** Whether there were more changes by then. */
  readonly isCut: boolean
  readonly known: readonly UserHealth[]
}

const uuid = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' })
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const health = Type.Object({
  state: Type.Union(HEALTH_STATES.map(state => Type.Literal(state))),
  since: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' }),
  reason: Type.Union([Type.String(), Type.Null()])
})
const question = Compile(Type.Object({ nodeId: uuid, after: count, users: Type.Array(uuid, { maxItems: ASKED_USERS_MAX }) }))
const answer = Compile(
  Type.Object({ until: count, isCut: Type.Boolean(), known: Type.Array(Type.Object({ userKey: uuid, connectionId: uuid, health })) })
)
const isQuestion = (value: unknown): value is HealthQuestion => question.Check(value)
const isAnswer = (value: unknown): value is HealthAnswer => answer.Check(value)

/** @throws Malformed */
export function readQuestion(value: unknown): HealthQuestion {
  if (isQuestion(value)) return value
  throw new Malformed('question', 'a question about the health of connections', value)
}

/** @throws Malformed */
export function readAnswer(value: unknown): HealthAnswer {
  if (isAnswer(value)) return value
  throw new Malformed('answer', 'the health of connections', value)
}
