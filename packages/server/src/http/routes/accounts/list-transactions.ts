import { listTransactions } from '@trunkline/core/app/accounts/read-transactions'
import { presentTransaction, transactionList } from '../../../wire/account.ts'
import { userEndpoint } from '../../endpoint.ts'
import { accountIdParam, connectionIdParam, date } from '../../params.ts'
import { orderedTimes } from '../ordered.ts'
import { scopeOf } from './scope.ts'

export const getTransactions = userEndpoint({
  method: 'GET',
  path: '/transactions',
  operationId: 'listTransactions',
  tag: 'Accounts',
  summary: 'List transactions',
  failures: ['account_not_found', 'connection_not_found'],
  query: {
    account_id: accountIdParam,
    connection_id: connectionIdParam,
    start_date: date('From this day on, itself included.'),
    end_date: date('Up to this day, itself included.')
  },
  success: { status: 200, description: 'The transactions, newest first.', schema: transactionList },
  async handle({ caller, query }, { deps }) {
    orderedTimes(query.start_date, query.end_date, 'start_date', 'end_date')
    const rows = await listTransactions(deps, caller, scopeOf(query), query.start_date ?? null, query.end_date ?? null)
    return rows.map(({ account, transaction }) => presentTransaction(caller.user.userId, account, transaction))
  }
})
