// Accounts with their balances and positions, each kind one document that is replaced as a whole, and transactions.
import type { Account, Balance, Position, Transaction } from '@trunkline/core/domain/account'
import { changedBalances, changedPositions, newestTime, symbolOf, unlisted } from '@trunkline/core/domain/account-changes'
import type { AccountId, ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { AccountFreshness, AccountStore, ConfirmedKind, LoggedEvent, Page, PageRequest } from '@trunkline/core/ports/store'
import type { TransactionFilter } from '@trunkline/core/ports/transaction-filter'
import { type Selectable, sql } from 'kysely'
import type { RecordWriter } from './account-records.ts'
import type { Database, RecordKind } from './database.ts'
import { type DaySpan, readBalances, readDaySpan, readPositions, writeDocument } from './documents.ts'
import type { Session } from './session.ts'
import { listTransactions } from './transactions.ts'
import { storable } from './types.ts'

type Row = Selectable<Database['accounts']>

export class SqlAccountStore implements AccountStore {
  readonly #session: Session
  readonly #writer: RecordWriter
  readonly #clock: Clock

  constructor(session: Session, parts: { readonly clock: Clock; readonly records: RecordWriter }) {
    this.#session = session
    this.#writer = parts.records
    this.#clock = parts.clock
  }

  async listByUser(userKey: UserKey): Promise<readonly Account[]> {
    const rows = await this.#session.rows<Row>(BY_USER, [userKey])
    return rows.map(accountOf)
  }

  async listByConnections(connectionIds: readonly ConnectionId[]): Promise<readonly Account[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('accounts')
        .selectAll()
        .where(sql<boolean>`connection_id = any (${[...connectionIds]}::uuid[])`)
        .orderBy('connection_id')
        .orderBy('place')
        .execute()
    )
    return rows.map(accountOf)
  }

  async balances(accountIds: readonly AccountId[]): Promise<readonly Balance[]> {
    return (await this.#documents(accountIds, 'balances')).flatMap(readBalances)
  }

  async positions(accountIds: readonly AccountId[]): Promise<readonly Position[]> {
    return (await this.#documents(accountIds, 'positions')).flatMap(readPositions)
  }

  transactions(accountIds: readonly AccountId[], filter: TransactionFilter, page: PageRequest): Promise<Page<Transaction>> {
    return listTransactions(this.#session, accountIds, filter, page)
  }

  async putBalances(account: Account, balances: readonly Balance[], confirmedAt?: Timestamp): Promise<readonly LoggedEvent[]> {
    const events = await this.#writer.replace(account, 'balances', {
      document: writeDocument(balances),
      confirmedAt: confirmedAt ?? newestTime(balances) ?? this.#clock.now(),
      events: before =>
        changedBalances(before === null ? [] : readBalances(before), balances).map(data => ({ topic: 'balances' as const, data }))
    })
    return events ?? []
  }

  async putPositions(
    account: Account,
    positions: readonly Position[],
    at: Timestamp,
    confirmedAt: Timestamp = at
  ): Promise<readonly LoggedEvent[]> {
    return (await this.#putPositions(account, positions, { at, confirmedAt }, () => true)) ?? []
  }

  putPositionsUnlessGone(account: Account, positions: readonly Position[], at: Timestamp): Promise<readonly LoggedEvent[] | null> {
    return this.#putPositions(account, positions, { at, confirmedAt: at }, stored => unlisted(stored, positions, symbolOf).length === 0)
  }

  #putPositions(
    account: Account,
    positions: readonly Position[],
    { at, confirmedAt }: { readonly at: Timestamp; readonly confirmedAt: Timestamp },
    mayReplace: (stored: readonly Position[]) => boolean
  ): Promise<readonly LoggedEvent[] | null> {
    return this.#writer.replace(account, 'positions', {
      document: writeDocument(positions),
      confirmedAt,
      events: before => {
        const stored = before === null ? [] : readPositions(before)
        if (!mayReplace(stored)) return null
        const data = changedPositions(stored, positions, at)
        return data.length === 0 ? [] : [{ topic: 'positions' as const, data }]
      }
    })
  }

  async putTransactions(account: Account, transactions: readonly Transaction[], read: DaySpan & { readonly at: Timestamp }): Promise<void> {
    // A batch must not name a row twice; the later of two reports of one transaction is the newer.
    const newest = new Map(transactions.map(transaction => [storable(transaction.brokerTransactionId), transaction]))
    const rows = [...newest.entries()]
    const fence = this.#session.fenceOf(account.userKey)
    await this.#session.write(async trx => {
      const known = await trx
        .selectFrom('accounts')
        .select('account_id')
        .where('account_id', '=', account.accountId)
        .forShare()
        .executeTakeFirst()
      if (known === undefined) return
      await this.#session.demandOwned(trx, account.userKey, fence)
      await sql`insert into transactions (transaction_id, account_id, broker_transaction_id, day, document)
        select id, ${account.accountId}::uuid, broker_id, day, document from unnest(
          ${rows.map(([, { transactionId }]) => transactionId)}::uuid[], ${rows.map(([brokerId]) => brokerId)}::text[],
          ${rows.map(([, { day }]) => day)}::date[], ${rows.map(([, transaction]) => writeDocument(transaction))}::text[]
        ) as given (id, broker_id, day, document)
        on conflict (account_id, broker_transaction_id) do update set day = excluded.day, document = excluded.document`.execute(trx)
      await this.#writer.confirm(trx, account.accountId, 'transactions', read.at, writeDocument({ from: read.from, to: read.to }))
    })
  }

  async freshness(accountId: AccountId): Promise<AccountFreshness> {
    const rows = await this.#session.rows<Confirmation>(CONFIRMATIONS, [accountId])
    const at = (kind: RecordKind) => rows.find(row => row.kind === kind)?.confirmed_at ?? null
    const read = rows.find(row => row.kind === 'transactions')
    return {
      balances: at('balances'),
      positions: at('positions'),
      orders: at('orders'),
      transactions: read === undefined || read.span === null ? null : { ...readDaySpan(read.span), at: read.confirmed_at }
    }
  }

  async confirmed(accountIds: readonly AccountId[], kind: ConfirmedKind): Promise<ReadonlyMap<AccountId, Timestamp>> {
    const rows = await this.#session.rows<{ account_id: AccountId; confirmed_at: Timestamp }>(
      'select account_id, confirmed_at from account_records where account_id = any ($1::uuid[]) and kind = $2',
      [accountIds, kind]
    )
    return new Map(rows.map(row => [row.account_id, row.confirmed_at]))
  }

  /** The accounts' documents of one kind, in the order of the ids. */
  async #documents(accountIds: readonly AccountId[], kind: RecordKind): Promise<readonly string[]> {
    const rows = await this.#session.rows<{ document: string }>(
      `select document from unnest($1::uuid[]) with ordinality as wanted (account_id, place)
       join account_records using (account_id) where kind = $2 order by place`,
      [accountIds, kind]
    )
    return rows.map(({ document }) => document)
  }
}

interface Confirmation {
  readonly kind: RecordKind
  readonly confirmed_at: Timestamp
  /** The days of the transactions. */
  readonly span: string | null
}

const CONFIRMATIONS = `select kind, confirmed_at, case when kind = 'transactions' then document end as span
  from account_records where account_id = $1`

const BY_USER = `select accounts.* from accounts join connections using (connection_id)
  where accounts.user_key = $1 order by connections.created_at, accounts.connection_id, accounts.place`

function accountOf(row: Row): Account {
  return {
    accountId: row.account_id,
    connectionId: row.connection_id,
    userKey: row.user_key,
    accountNumber: row.account_number,
    brokerAccountId: row.broker_account_id,
    institutionName: row.institution_name,
    broker: row.broker,
    name: row.name,
    accountType: row.account_type,
    currency: row.currency
  }
}
