// Lists of transactions: keyset pages by day.
import type { Transaction } from '@trunkline/core/domain/account'
import type { AccountId, TransactionId } from '@trunkline/core/domain/ids'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { Page, PageRequest } from '@trunkline/core/ports/store'
import type { TransactionFilter } from '@trunkline/core/ports/transaction-filter'
import { readTransaction } from './documents.ts'
import { edgeKeys, pageOf, walkOf } from './page.ts'
import type { Session } from './session.ts'

interface Row {
  readonly transaction_id: TransactionId
  readonly day: Day
  readonly document: string
  readonly anything_behind: boolean
}

/** One page of the transactions of inclusive days. Types are read from the documents: days lead to few enough. */
export async function listTransactions(
  session: Session,
  accountIds: readonly AccountId[],
  { from, to, types }: TransactionFilter,
  page: PageRequest
): Promise<Page<Transaction>> {
  const parameters: unknown[] = []
  const parameter = (value: unknown, type: string) => `$${parameters.push(value)}::${type}`
  const walk = walkOf(page)
  const edge = page.edge === null ? null : edgeKeys(page.edge)
  const key = edge === null ? null : `(${parameter(edge[0], 'date')}, ${parameter(edge[1], 'uuid')})`
  const ofType = types === null ? '' : ` and document::json ->> 'type' = any (${parameter(types, 'text[]')})`
  const wanted = `account_id = any (${parameter(accountIds, 'uuid[]')}) and day >= ${parameter(from, 'date')} and day <= ${parameter(to, 'date')}${ofType}`
  const stretch = key === null ? '' : ` and (day, transaction_id) ${walk.beyond} ${key}`
  const behind =
    key === null ? 'false' : `exists (select 1 from transactions where ${wanted} and (day, transaction_id) ${walk.behind} ${key} limit 1)`
  const rows = await session.rows<Row>(
    `(select transaction_id, day, document, ${behind} as anything_behind from transactions where ${wanted}${stretch}
     order by day ${walk.direction}, transaction_id ${walk.direction} limit ${parameter(walk.limit, 'int')})`,
    parameters
  )
  return pageOf(rows, page, rows[0]?.anything_behind ?? false, {
    row: ({ document, transaction_id }) => readTransaction(document, transaction_id),
    key: row => [row.day, row.transaction_id]
  })
}
