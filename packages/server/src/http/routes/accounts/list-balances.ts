import { listBalances } from '@trunkline/core/app/accounts/read-holdings'
import { balanceList, presentBalance } from '../../../wire/account.ts'
import { userEndpoint } from '../../endpoint.ts'
import { withFreshness } from '../../freshness.ts'
import { accountIdParam, connectionIdParam } from '../../params.ts'
import { FRESHNESS } from './freshness.ts'
import { scopeOf } from './scope.ts'

export const getBalances = userEndpoint({
  method: 'GET',
  path: '/balances',
  scope: 'read',
  operationId: 'listBalances',
  tag: 'Accounts',
  summary: 'List balances',
  description: 'One record per account and currency. If the broker does not respond, the last known records; `system_time` is their time.',
  failures: ['account_not_found', 'connection_not_found'],
  query: { account_id: accountIdParam, connection_id: connectionIdParam },
  success: { status: 200, headers: FRESHNESS, description: 'The balances.', schema: balanceList },
  async handle({ caller, query }, { deps }) {
    const { rows, freshness } = await listBalances(deps, caller, scopeOf(query))
    return withFreshness(
      rows.map(({ account, balance }) => presentBalance(caller.user.userId, account, balance)),
      freshness
    )
  }
})
