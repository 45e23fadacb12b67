import type { UserId } from '@trunkline/core/domain/ids'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import Type, { type Static } from 'typebox'
import { balanceRecord, positionRecord, presentBalance, presentPosition } from './account.ts'
import { nullable, record, uuid } from './common.ts'
import { orderBytes, orderRecord } from './order.ts'

const common = {
  seq: Type.Integer({ description: 'Counts the user’s updates from 1, without a gap.' }),
  event_id: uuid,
  user_id: Type.String()
}

export const orderUpdate = record('OrderUpdate', 'An order changed.', { type: Type.Literal('orders'), ...common, data: orderRecord })
export const positionsUpdate = record('PositionsUpdate', 'Positions of one account changed. A closed position has the quantity 0.', {
  type: Type.Literal('positions'),
  ...common,
  data: Type.Array(positionRecord)
})
export const balanceUpdate = record('BalanceUpdate', 'A balance changed.', {
  type: Type.Literal('balances'),
  ...common,
  data: balanceRecord
})

/** One event as platforms see it. The bytes are the same on the stream, in its replay and in `GET /events`. */
export const update = Type.Union([orderUpdate, positionsUpdate, balanceUpdate])

export const eventPage = record('EventPage', 'Part of a user’s log, in the order in which it was applied.', {
  data: Type.Array(update),
  next_after: nullable(Type.Integer(), 'Send it back as `after` to read the next page; null at the end of the log.'),
  oldest_seq: Type.Integer({
    description:
      'The `seq` of the oldest event that is still stored. If your `after` is less than this minus 1, events are missing: read a snapshot.'
  }),
  last_seq: Type.Integer({ description: 'The `seq` of the newest event; 0 before the first.' })
})

const encoder = new TextEncoder()
const END = 0x7d

/** The event as JSON bytes, behind `before` bytes that are left to the caller. */
export function updateBytes(event: LoggedEvent, userId: UserId, before: (bytes: number) => number = () => 0): Uint8Array {
  const head = `{"type":"${event.topic}","seq":${event.seq},"event_id":"${event.eventId}","user_id":${JSON.stringify(userId)},"data":`
  const data = dataBytes(event, userId)
  const headBytes = Buffer.byteLength(head)
  const length = headBytes + data.byteLength + 1
  const at = before(length)
  const bytes = Buffer.allocUnsafe(at + length)
  bytes.write(head, at)
  bytes.set(data, at + headBytes)
  bytes[at + length - 1] = END
  return bytes
}

function dataBytes(event: LoggedEvent, userId: UserId): Uint8Array {
  switch (event.topic) {
    case 'orders':
      return orderBytes(event.data)
    case 'positions':
      return encoder.encode(JSON.stringify(event.data.map(position => presentPosition(userId, event, position))))
    case 'balances':
      return encoder.encode(JSON.stringify(presentBalance(userId, event, event.data)))
  }
}

export type Update = Static<typeof update>
