import { listAccounts } from '@trunkline/core/app/accounts/read-accounts'
import { accountList, presentAccount } from '../../../wire/account.ts'
import { userEndpoint } from '../../endpoint.ts'
import { brokerParam, connectionIdParam } from '../../params.ts'
import { scopeOf } from './scope.ts'

export const getAccounts = userEndpoint({
  method: 'GET',
  path: '/accounts',
  operationId: 'listAccounts',
  tag: 'Accounts',
  summary: 'List accounts',
  failures: ['connection_not_found'],
  query: { connection_id: connectionIdParam, broker: brokerParam },
  success: { status: 200, description: 'The accounts of the user’s connections.', schema: accountList },
  async handle({ caller, query }, { deps }) {
    const accounts = await listAccounts(deps, caller, scopeOf(query))
    return accounts.map(presentAccount)
  }
})
