import { listAccounts } from '@trunkline/core/app/accounts/read-accounts'
import { accountList, presentAccount } from '../../../wire/account.ts'
import { userEndpoint } from '../../endpoint.ts'
import { withFreshness } from '../../freshness.ts'
import { brokerParam, connectionIdParam } from '../../params.ts'
import { FRESHNESS } from './freshness.ts'
import { scopeOf } from './scope.ts'

export const getAccounts = userEndpoint({
  method: 'GET',
  path: '/accounts',
  scope: 'read',
  operationId: 'listAccounts',
  tag: 'Accounts',
  summary: 'List accounts',
  failures: ['connection_not_found'],
  query: { connection_id: connectionIdParam, broker: brokerParam },
  success: { status: 200, headers: FRESHNESS, description: 'The accounts of the user’s connections.', schema: accountList },
  async handle({ caller, query }, { deps }) {
    const { rows, freshness } = await listAccounts(deps, caller, scopeOf(query))
    return withFreshness(rows.map(presentAccount), freshness)
  }
})
