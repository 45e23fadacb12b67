import { listAccounts } from '@trunkline/core/app/accounts/read-accounts'
import { listBalances, listPositions } from '@trunkline/core/app/accounts/read-holdings'
import { DAYS_BACK, listTransactions, requestedDays } from '@trunkline/core/app/accounts/read-transactions'
import { TRANSACTION_TYPES } from '@trunkline/core/domain/vocabulary'
import Type from 'typebox'
import {
  accountList,
  balanceList,
  positionList,
  presentAccount,
  presentBalance,
  presentPosition,
  presentTransaction,
  transactionList
} from '../../wire/account.ts'
import { type Endpoint, userEndpoint } from '../endpoint.ts'
import { FRESHNESS, withFreshness } from '../freshness.ts'
import { accountIdParam, brokerParam, connectionIdParam, cursorParam, date, integer, oneOf, symbolsParam } from '../params.ts'
import { orderedTimes, scopeOf } from './parameters.ts'

const LIMIT = { maximum: 1_000, fallback: 1_000 }
const LINK = {
  description: 'The address of the next page as `<address>; rel="next"` (RFC 8288), with both days filled in. Absent on the last page.',
  schema: Type.String({
    examples: ['<https://trunkline.example/v1/transactions?start_date=2026-08-22&limit=100&cursor=WyIy…>; rel="next"']
  })
}

const shared = { method: 'GET', scope: 'read', tag: 'Accounts' } as const

export const ACCOUNTS: readonly Endpoint[] = [
  userEndpoint({
    ...shared,
    path: '/accounts',
    operationId: 'listAccounts',
    summary: 'List accounts',
    failures: ['connection_not_found'],
    query: { connection_id: connectionIdParam, broker: brokerParam },
    success: { status: 200, headers: FRESHNESS, description: 'The accounts of the user’s connections.', schema: accountList },
    async handle({ caller, query }, { deps }) {
      const { rows, freshness } = await listAccounts(deps, caller, scopeOf(query))
      return withFreshness(rows.map(presentAccount), freshness)
    }
  }),
  userEndpoint({
    ...shared,
    path: '/balances',
    operationId: 'listBalances',
    summary: 'List balances',
    description:
      'One record per account and currency. If the broker does not respond, the last known records; `system_time` is their time.',
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
  }),
  userEndpoint({
    ...shared,
    path: '/positions',
    operationId: 'listPositions',
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
  }),
  userEndpoint({
    ...shared,
    path: '/transactions',
    operationId: 'listTransactions',
    summary: 'List transactions',
    description: `Newest first: by \`date\`, and within a day by \`transaction_id\`, both descending. The ids of an account ascend in the order in which its broker lists the transactions; transactions that the broker reports later get higher ids. A transaction keeps its id, so pages neither skip nor repeat one. Brokers date most transactions by day only. Without \`start_date\`, the list begins ${DAYS_BACK} days before \`end_date\`, or before today if that is absent too. Earlier requests do not change this. If the broker offers no transactions, the list is empty and \`trunkline-freshness\` says so.`,
    failures: ['account_not_found', 'connection_not_found'],
    query: {
      account_id: accountIdParam,
      connection_id: connectionIdParam,
      start_date: date('The first day, inclusive.'),
      end_date: date('The last day, inclusive.'),
      type: oneOf(TRANSACTION_TYPES, 'Only transactions of this type.'),
      limit: integer({ minimum: 1, ...LIMIT }, 'Maximum number of rows on a page.'),
      cursor: cursorParam('From the `link` of a page: returns the page after it.')
    },
    success: { status: 200, description: 'One page of the transactions.', headers: { ...FRESHNESS, link: LINK }, schema: transactionList },
    async handle({ caller, query }, { deps, cursors, publicUrl }) {
      orderedTimes(query.start_date, query.end_date, 'start_date', 'end_date')
      const { from, to } = requestedDays(deps.clock, query.start_date ?? null, query.end_date ?? null)
      const types = query.type === undefined ? null : [query.type]
      const accounts = scopeOf(query)
      const scope = ['transactions', caller.user.userKey, accounts, from, to, types]
      const page = cursors.forward(query, scope, LIMIT.fallback)
      const { rows, next, freshness } = await listTransactions(deps, caller, accounts, { from, to, types }, page)
      const following = next === null ? null : { ...query, start_date: from, end_date: to, cursor: cursors.after(next, scope) }
      const link = following === null ? {} : { link: `<${publicUrl()}/v1/transactions?${parameters(following)}>; rel="next"` }
      const records = rows.map(({ account, transaction }) => presentTransaction(caller.user.userId, account, transaction))
      return withFreshness(records, freshness, link)
    }
  })
]

function parameters(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return new URLSearchParams(given).toString()
}
