// How current records are after they were read again, as operators are shown it.
import type { ReadKind } from '@trunkline/core/app/operators/reading-again'
import { FRESHNESS_STATES } from '@trunkline/core/domain/freshness'
import type { ConnectionId } from '@trunkline/core/domain/ids'
import Type, { type Static } from 'typebox'
import { nullable, oneOf, record, timestamp, uuid } from '../wire/common.ts'

const readAgain = record('RecordsReadAgain', 'How current the records of an account are, after they were read again.', {
  account_id: uuid,
  records: oneOf(['balances', 'positions', 'orders']),
  state: oneOf(FRESHNESS_STATES, {
    description: '`live`: they follow the broker without a gap; `fresh`: confirmed now; `stale`: the last known; `unavailable`: never read.'
  }),
  confirmed_at: nullable(timestamp, 'When the broker last confirmed them; null: never.'),
  reason: nullable(
    oneOf(['broker_unavailable', 'connection_broken', 'not_stored']),
    'Why they are `stale` or `unavailable`; null: they are not.'
  )
})

export const connectionReadAgain = record('ConnectionReadAgain', 'What was read again.', {
  connection_id: uuid,
  data: Type.Array(readAgain)
})

export function presentReadAgain(connectionId: ConnectionId, read: readonly ReadKind[]): Static<typeof connectionReadAgain> {
  return { connection_id: connectionId, data: read.flatMap(rowsOf) }
}

function rowsOf({ kind: records, freshness }: ReadKind): Static<typeof readAgain>[] {
  return freshness.map(({ accountId, state, confirmed, reason }) => ({
    ...{ account_id: accountId, records, state },
    ...{ confirmed_at: confirmed, reason }
  }))
}
