import { listPositions } from '@trunkline/core/app/accounts/read-holdings'
import { positionList, presentPosition } from '../../../wire/account.ts'
import { userEndpoint } from '../../endpoint.ts'
import { withFreshness } from '../../freshness.ts'
import { accountIdParam, connectionIdParam, symbolsParam } from '../../params.ts'
import { FRESHNESS } from './freshness.ts'
import { scopeOf } from './scope.ts'

export const getPositions = userEndpoint({
  method: 'GET',
  path: '/positions',
  scope: 'read',
  operationId: 'listPositions',
  tag: 'Accounts',
  summary: 'List positions',
  description: 'If the broker does not respond, the last known positions; `system_time` is their time.',
  failures: ['account_not_found', 'connection_not_found'],
  query: { account_id: accountIdParam, connection_id: connectionIdParam, symbols: symbolsParam },
  success: { status: 200, headers: FRESHNESS, description: 'The positions.', schema: positionList },
  async handle({ caller, query }, { deps }) {
    const { rows, freshness } = await listPositions(deps, caller, scopeOf(query), query.symbols ?? null)
    return withFreshness(
      rows.map(({ account, position }) => presentPosition(caller.user.userId, account, position)),
      freshness
    )
  }
})
