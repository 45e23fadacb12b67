// What an operator has the owner of a user do, as nodes pass it on: the change, and the owner's refusal.
import { ERROR_CODES, type ErrorCode } from '@trunkline/core/domain/errors'
import type { ConnectionId, OrderId, UserKey } from '@trunkline/core/domain/ids'
import Type, { type Static } from 'typebox'
import { nullable, reader, text, uuidOf } from './forms.ts'

/** The path between nodes. */
export const CHANGES_PATH = '/nodes/operators/changes'

const orderEnd = Type.Object({
  kind: Type.Literal('end_never_received'),
  orderId: uuidOf<OrderId>(),
  because: text,
  isUnseen: Type.Boolean()
})
const readingAgain = Type.Object({ kind: Type.Literal('read_again'), connectionId: uuidOf<ConnectionId>() })
const change = Type.Union([orderEnd, readingAgain])
/** An order is ended that the broker never received. */
export type OrderEnd = Readonly<Static<typeof orderEnd>>
/** A connection's records are read again. */
export type ReadingAgain = Readonly<Static<typeof readingAgain>>
/** What only the owner of the user may do: it has the user's orders under way, mirrors and quotas. */
export type OwnersChange = OrderEnd | ReadingAgain

const passedChange = Type.Object({ operator: text, userKey: uuidOf<UserKey>(), change })
/** A change, and the name of the operator whom the asked node has proven. Address and request id travel as those of any request do. */
export type PassedChange = Readonly<Static<typeof passedChange>>

const refusal = Type.Object({
  code: Type.Unsafe<ErrorCode>(Type.Union(ERROR_CODES.map(code => Type.Literal(code)))),
  message: text,
  retryAfterSeconds: nullable(Type.Number())
})
/** Why the owner did nothing, or that it is unknown: `internal`. */
export type OwnersRefusal = Readonly<Static<typeof refusal>>

/** @throws Malformed */
export const readPassedChange: (value: unknown) => PassedChange = reader(passedChange, 'change')
/** @throws Malformed */
export const readOwnersRefusal: (value: unknown) => OwnersRefusal = reader(refusal, 'refusal')
