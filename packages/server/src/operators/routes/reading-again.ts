import type { ConnectionId } from '@trunkline/core/domain/ids'
import { uuidInPath } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import { connectionReadAgain } from '../reading-records.ts'

export const READING_AGAIN: readonly Operation[] = [
  operation({
    scope: 'manage',
    tag: 'Platforms',
    method: 'POST',
    path: '/connections/:connection_id/read-again',
    operationId: 'readConnectionAgain',
    summary: 'Read a connection’s records again',
    description: `Asks the broker for balances, positions and orders of the connection’s accounts, as a platform’s read does: what was confirmed less than two seconds
ago, or is followed without a gap, is not asked for. A broker that gives no answer is no failure: the answer says so. With several nodes, any of them has it
done by the node that owns the user; if that one gives no answer, the answer is \`internal\`, and it is unknown whether the broker was asked. A repetition reads
again. Two at once share one read.`,
    failures: ['connection_not_found', 'broker_unavailable'],
    params: { connection_id: uuidInPath<ConnectionId>('The connection.') },
    success: { status: 200, description: 'The records of each account, by kind.', schema: connectionReadAgain },
    async handle({ caller, path }, deps) {
      const { connection_id: connectionId } = path
      const userKey = (await deps.app.store.connections.find(connectionId))?.userKey ?? null
      return await deps.changes.readAgain(userKey, { kind: 'read_again', connectionId }, caller)
    }
  })
]
