// What the node that an operator asks wants to know of the others, and their answers.
import { type ConnectionHealth, HEALTH_STATES, type LeftOut } from '@trunkline/core/domain/account'
import type { ConnectionId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import Type, { type Static } from 'typebox'
import { nullable, reader, text, uuid, uuidOf } from './forms.ts'

/** The path between nodes. */
export const OPERATORS_PATH = '/nodes/operators'
/** Most connections in one question, and most requests in one answer: a page of a list has no more. */
export const ROWS_MAX = 100

const timestamp = Type.Unsafe<Timestamp>({ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' })
const connectionId = uuidOf<ConnectionId>()
const count = Type.Integer({ minimum: 0 })

const filter = Type.Object({
  isFailed: Type.Boolean(),
  code: nullable(text),
  requestId: nullable(text),
  platformId: nullable(uuid),
  userKey: nullable(uuid)
})
/** Which requests are wanted; null: any. */
export type RequestFilter = Readonly<Static<typeof filter>>

const followed = Type.Object({ connectionId, createdAt: timestamp })
/** A connection that is not broken, and whose user the asked node owns. */
export type AskedConnection = Readonly<Static<typeof followed>>

const question = Type.Union([
  Type.Object({ kind: Type.Literal('overview') }),
  Type.Object({ kind: Type.Literal('requests'), filter, limit: Type.Integer({ minimum: 1, maximum: ROWS_MAX }) }),
  Type.Object({ kind: Type.Literal('followed'), connections: Type.Array(followed, { maxItems: ROWS_MAX }) })
])
export type NodeQuestion = Static<typeof question>

const overview = Type.Object({
  version: text,
  startedAt: timestamp,
  problem: nullable(Type.Union([Type.Literal('starting'), Type.Literal('stopping'), Type.Literal('store')])),
  minutes: Type.Array(Type.Object({ atMs: count, requests: count, errors: Type.Record(Type.String(), count) }), { maxItems: 1_440 })
})
export type OverviewAnswer = Static<typeof overview>

const answered = Type.Object({
  ...{ at: text, requestId: text, method: text, route: text, status: Type.Integer(), code: nullable(text), milliseconds: Type.Number() },
  ...{ platformId: nullable(text), userKey: nullable(text), address: text }
})
const requests = Type.Object({ requests: Type.Array(answered, { maxItems: ROWS_MAX }) })
export type RequestsAnswer = Static<typeof requests>

const health = Type.Unsafe<ConnectionHealth>(
  Type.Object({ state: Type.Union(HEALTH_STATES.map(state => Type.Literal(state))), since: timestamp, reason: nullable(text) })
)
const leftOut = Type.Unsafe<LeftOut>(Type.Object({ records: count, at: timestamp }))
const connections = Type.Object({
  connections: Type.Array(Type.Object({ connectionId, health, leftOut: nullable(leftOut) }), { maxItems: ROWS_MAX })
})
export type FollowedAnswer = Static<typeof connections>

/** @throws Malformed */
export const readQuestion: (value: unknown) => NodeQuestion = reader(question, 'question')
/** Readers of the answers, by the kind of the question. @throws Malformed */
export const READ_ANSWER = {
  overview: reader(overview, 'overview'),
  requests: reader(requests, 'requests'),
  followed: reader(connections, 'connections')
}
