// The order store: reads by every key, and the recorder for writes.
import type { Account } from '@trunkline/core/domain/account'
import type { AccountId, ConnectionId, OrderId, UserKey } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type {
  ChangeResult,
  OrderChange,
  OrderFilter,
  OrderSort,
  OrderStore,
  Page,
  PageRequest,
  UnresolvedFilter
} from '@trunkline/core/ports/store'
import type { RecordWriter } from '../account-records.ts'
import { readOrder } from '../documents.ts'
import type { Session } from '../session.ts'
import { storable } from '../types.ts'
import { KnownOrders } from './known.ts'
import { listOrders } from './list.ts'
import type { Recorder } from './recorder.ts'

interface DocumentRow {
  readonly document: string
}

export class SqlOrderStore implements OrderStore {
  readonly #session: Session
  readonly #recorder: Recorder
  readonly #records: RecordWriter
  readonly #known = new KnownOrders()

  constructor(session: Session, parts: { readonly recorder: Recorder; readonly records: RecordWriter }) {
    this.#session = session
    this.#recorder = parts.recorder
    this.#records = parts.records
  }

  record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]> {
    return this.#recorder.record(changes)
  }

  find(orderId: OrderId): Promise<Order | null> {
    return this.#one('select document from orders where order_id = $1', [orderId])
  }

  findByClOrdId(userKey: UserKey, tradingDay: Day, clOrdId: string): Promise<Order | null> {
    return this.#one('select document from orders where user_key = $1 and trading_day = $2 and cl_ord_id = $3', [
      userKey,
      tradingDay,
      storable(clOrdId)
    ])
  }

  /** The broker's id is more specific: on a replace some brokers keep the client's and change theirs. */
  async findByBrokerIds(
    accountId: AccountId,
    { brokerOrderId, brokerClOrdId }: { readonly brokerOrderId: string | null; readonly brokerClOrdId: string | null }
  ): Promise<Order | null> {
    const byBrokersId = brokerOrderId === null ? null : await this.#one(BY_BROKER_ORDER_ID, [accountId, storable(brokerOrderId)])
    if (byBrokersId !== null || brokerClOrdId === null) return byBrokersId
    return this.#one(BY_BROKER_CL_ORD_ID, [accountId, storable(brokerClOrdId)])
  }

  async idsByBrokerOrderIds(
    accountId: AccountId,
    brokerOrderIds: readonly string[]
  ): Promise<readonly { readonly brokerOrderId: string; readonly orderId: OrderId }[]> {
    const exact = new Map(brokerOrderIds.map(id => [storable(id), id]))
    const rows = await this.#session.rows<{ broker_order_id: string; order_id: OrderId }>(IDS_BY_BROKER_ORDER_IDS, [
      accountId,
      [...exact.keys()]
    ])
    return rows.map(row => ({ brokerOrderId: exact.get(row.broker_order_id) ?? row.broker_order_id, orderId: row.order_id }))
  }

  list(filter: OrderFilter, sort: OrderSort, page: PageRequest): Promise<Page<Order>> {
    return listOrders(this.#session, this.#known, filter, sort, page)
  }

  async unfinished(scope: { readonly connectionId: ConnectionId } | { readonly accountId: AccountId }): Promise<readonly Order[]> {
    const rows =
      'accountId' in scope
        ? await this.#session.rows<DocumentRow>(UNFINISHED_OF_ACCOUNT, [scope.accountId])
        : await this.#session.rows<DocumentRow>(UNFINISHED_OF_CONNECTION, [scope.connectionId])
    return rows.map(({ document }) => readOrder(document))
  }

  async unresolved(limit: number, { broker, connectionId, enteredBefore, after }: UnresolvedFilter = {}): Promise<readonly Order[]> {
    const filter = [broker ?? null, connectionId ?? null, enteredBefore ?? null]
    const edge = [after?.entryTime ?? null, after?.orderId ?? null]
    const rows = await this.#session.rows<DocumentRow>(UNRESOLVED, [limit, ...filter, ...edge])
    return rows.map(({ document }) => readOrder(document))
  }

  confirmed(account: Pick<Account, 'accountId' | 'userKey'>, at: Timestamp): Promise<void> {
    return this.#records.confirmOrders(account, at)
  }

  async #one(statement: string, parameters: readonly unknown[]): Promise<Order | null> {
    const [row] = await this.#session.rows<DocumentRow>(statement, parameters)
    return row === undefined ? null : readOrder(row.document)
  }
}

// An id that a broker reused means the newest order that had it.
const BY_BROKER_ORDER_ID = `select document from orders join order_broker_ids named using (order_id)
  where named.account_id = $1 and named.broker_order_id = $2 order by entry_time desc, order_id desc limit 1`

const IDS_BY_BROKER_ORDER_IDS = `select distinct on (named.broker_order_id) named.broker_order_id, order_id
  from order_broker_ids named join orders using (order_id)
  where named.account_id = $1 and named.broker_order_id = any ($2)
  order by named.broker_order_id, entry_time desc, order_id desc`

const BY_BROKER_CL_ORD_ID = `select document from orders
  where account_id = $1 and broker_cl_ord_id = $2 order by entry_time desc, order_id desc limit 1`

const UNFINISHED_OF_ACCOUNT = 'select document from orders where account_id = $1 and is_open order by entry_time, order_id'

const UNRESOLVED = `select document from orders
  where is_open and broker_order_id is null
    and ($2::text is null or connection_id in (select connection_id from connections where broker = $2)) and ($3::uuid is null or connection_id = $3) and ($4::timestamptz is null or entry_time < $4)
    and ($5::timestamptz is null or (entry_time, order_id) > ($5, $6::uuid))
  order by entry_time, order_id limit $1`

const UNFINISHED_OF_CONNECTION = `select document from accounts join orders using (account_id)
  where accounts.connection_id = $1 and is_open order by entry_time, order_id`
