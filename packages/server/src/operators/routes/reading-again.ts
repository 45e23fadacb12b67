import { type ReadKind, readConnectionAgain } from '@trunkline/core/app/operators/reading-again'
import { FRESHNESS_STATES } from '@trunkline/core/domain/freshness'
import type { ConnectionId } from '@trunkline/core/domain/ids'
import Type from 'typebox'
import { uuidInPath } from '../../http/params.ts'
import { nullable, oneOf, record, timestamp, uuid } from '../../wire/common.ts'
import { entriesOf } from '../acting.ts'
import { type Operation, operation } from '../endpoint.ts'

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

export const READING_AGAIN: readonly Operation[] = [
  operation({
    scope: 'manage',
    tag: 'Platforms',
    method: 'POST',
    path: '/connections/:connection_id/read-again',
    operationId: 'readConnectionAgain',
    summary: 'Read a connection’s records again',
    description: `Asks the broker for balances, positions and orders of the connection’s accounts, as a platform’s read does: what was confirmed less than two seconds
ago, or is followed without a gap, is not asked for. A broker that gives no answer is no failure: the answer says so. With several nodes, only the node that
owns the user does it; another one names it. A repetition reads again. Two at once share one read.`,
    failures: ['connection_not_found', 'broker_unavailable'],
    params: { connection_id: uuidInPath<ConnectionId>('The connection.') },
    success: {
      status: 200,
      description: 'The records of each account, by kind.',
      schema: record('ConnectionReadAgain', 'What was read again.', { connection_id: uuid, data: Type.Array(readAgain) })
    },
    async handle({ caller, path }, deps) {
      const read = await readConnectionAgain(deps.app, path.connection_id, entriesOf(deps, caller))
      return { connection_id: path.connection_id, data: read.flatMap(rowsOf) }
    }
  })
]

function rowsOf({ kind: records, freshness }: ReadKind) {
  return freshness.map(({ accountId, state, confirmed, reason }) => ({
    ...{ account_id: accountId, records, state },
    ...{ confirmed_at: confirmed, reason }
  }))
}
