// The tables as Kysely sees them: one interface per table, with the domain's types where a column holds one of its values.
import type { AttemptStatus } from '@trunkline/core/domain/account'
import type {
  AccountId,
  AttemptId,
  BrokerId,
  ClOrdId,
  ConnectionId,
  EventId,
  KeyId,
  NodeId,
  OrderId,
  PlatformId,
  TransactionId,
  UserId,
  UserKey
} from '@trunkline/core/domain/ids'
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type { BrokenCode, ConnectionStatus, ConnectionType, Environment, OrderStatus, Side } from '@trunkline/core/domain/vocabulary'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { OperatorCodesTable, OperatorKeysTable, OperatorLoginsTable, OperatorSessionsTable } from './operator-tables.ts'
import type { WebhookCursorsTable, WebhookDeliveriesTable, WebhookEndpointsTable } from './webhooks/tables.ts'

/** Read as a `Buffer`, written as any bytes. */
type Bytes = ColumnType<Buffer, Uint8Array, Uint8Array>
type NullableBytes = ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>
/** JSON text of a record of the domain. Only `documents.ts` reads and writes it. */
type Document = string
/** The kinds of account records that are confirmed as a whole. */
export type RecordKind = 'balances' | 'positions' | 'orders' | 'transactions'

export interface Database {
  readonly platforms: PlatformsTable
  readonly platform_keys: PlatformKeysTable
  readonly users: UsersTable
  readonly user_counters: UserCountersTable
  readonly connection_attempts: ConnectionAttemptsTable
  readonly connections: ConnectionsTable
  readonly connection_credentials: ConnectionCredentialsTable
  readonly credential_refreshes: CredentialRefreshesTable
  readonly revocations: RevocationsTable
  readonly pending_claims: PendingClaimsTable
  readonly accounts: AccountsTable
  readonly account_records: AccountRecordsTable
  readonly transactions: TransactionsTable
  readonly market_data_tokens: MarketDataTokensTable
  readonly orders: OrdersTable
  readonly order_broker_ids: OrderBrokerIdsTable
  readonly order_symbols: OrderSymbolsTable
  readonly events: EventsTable
  readonly stream_slots: StreamSlotsTable
  readonly market_slots: MarketSlotsTable
  readonly submissions: SubmissionsTable
  readonly key_checks: KeyChecksTable
  readonly audit_pending: AuditPendingTable
  readonly audit_log: AuditLogTable
  readonly audit_head: AuditHeadTable
  readonly erasures: ErasuresTable
  readonly probes: ProbesTable
  readonly members: MembersTable
  readonly partitions: PartitionsTable
  readonly webhook_endpoints: WebhookEndpointsTable
  readonly webhook_cursors: WebhookCursorsTable
  readonly webhook_deliveries: WebhookDeliveriesTable
  readonly operator_codes: OperatorCodesTable
  readonly operator_logins: OperatorLoginsTable
  readonly operator_sessions: OperatorSessionsTable
  readonly operator_keys: OperatorKeysTable
  readonly schema_migrations: SchemaMigrationsTable
}

interface PlatformsTable {
  platform_id: PlatformId
  client_id: string
  name: string
  redirect_allow_list: Document
  claims: Generated<boolean>
  created_at: Timestamp
  disabled_at: Timestamp | null
  color: string | null
  app_url: string | null
}

interface PlatformKeysTable {
  key_id: KeyId
  platform_id: PlatformId
  client_id: string
  name: string
  scopes: Document
  addresses: Document
  secret_hash: string
  previous_hash: string | null
  previous_until: Timestamp | null
  created_at: Timestamp
  expires_at: Timestamp | null
  last_used_at: Timestamp | null
  disabled_at: Timestamp | null
}

interface UsersTable {
  user_key: UserKey
  platform_id: PlatformId
  user_id: UserId
  secret_hash: string
  created_at: Timestamp
  disabled_at: Timestamp | null
}

interface UserCountersTable {
  user_key: UserKey
  first_seq: Generated<number>
  last_seq: number
  oldest_at: Timestamp | null
}

interface ConnectionAttemptsTable {
  attempt_id: AttemptId
  platform_id: PlatformId
  user_key: UserKey
  token_hash: string
  connection_type: ConnectionType
  broker: BrokerId | null
  chosen_broker: BrokerId | null
  redirect_url: string | null
  redirect_on_error_url: string | null
  created_at: Timestamp
  expires_at: Timestamp
  status: AttemptStatus
  browser_hash: string | null
  state_hash: string | null
  verifier: NullableBytes
  verifier_revision: number | null
  state_made_at: Timestamp | null
  login_tries: number
  renew_connection_id: ConnectionId | null
  key_id: KeyId | null
}

interface ConnectionsTable {
  connection_id: ConnectionId
  platform_id: PlatformId
  user_key: UserKey
  user_id: UserId
  broker: BrokerId
  connection_type: ConnectionType
  status: ConnectionStatus
  environment: Environment | null
  host: string | null
  broken_code: BrokenCode | null
  broken_reason: string | null
  created_at: Timestamp
  updated_at: Timestamp
}

interface ConnectionCredentialsTable {
  connection_id: ConnectionId
  user_key: UserKey
  sealed: Bytes
  revision: number
  key_id: string | null
}

interface CredentialRefreshesTable {
  connection_id: ConnectionId
  revision: number
  holder: string
  held_until: Timestamp | null
}

interface RevocationsTable extends ConnectionCredentialsTable {
  broker: BrokerId
  environment: Environment | null
  host: string | null
  attempts: Generated<number>
  removed_at: Timestamp
  due_at: Timestamp
  broker_account_ids: Document | null
}

interface PendingClaimsTable {
  connection_id: ConnectionId
  user_key: UserKey
  code_hash: string
  document: Document
  broker: BrokerId
  environment: Environment | null
  host: string | null
  sealed: Bytes
  revision: number
  key_id: string | null
  expires_at: Timestamp
}

interface AccountsTable {
  account_id: AccountId
  connection_id: ConnectionId
  user_key: UserKey
  place: number
  account_number: string
  broker_account_id: string
  institution_name: string
  broker: BrokerId
  name: string | null
  account_type: string | null
  currency: string | null
}

interface AccountRecordsTable {
  account_id: AccountId
  kind: RecordKind
  version: number
  confirmed_at: Timestamp
  document: Document
}

interface TransactionsTable {
  transaction_id: TransactionId
  account_id: AccountId
  broker_transaction_id: string
  day: Day
  document: Document
}

interface MarketDataTokensTable {
  token_hash: string
  user_key: UserKey
  connection_id: ConnectionId
  key_id: KeyId | null
  key_secret_hash: string | null
  created_at: Timestamp
  expires_at: Timestamp
  superseded_at: Timestamp | null
}

interface OrdersTable {
  order_id: OrderId
  user_key: UserKey
  account_id: AccountId
  connection_id: ConnectionId
  trading_day: Day
  cl_ord_id: ClOrdId
  broker_cl_ord_id: string
  broker_order_id: string | null
  revision: number
  status: OrderStatus
  is_open: boolean
  symbol: string | null
  side: Side
  entry_time: Timestamp
  last_modified_time: Timestamp
  last_exec_time: string
  final_status: OrderStatus | null
  final_modified_time: Timestamp | null
  final_exec_time: string | null
  document: Document
  /** Set by the database. */
  further_symbols: GeneratedAlways<readonly string[] | null>
}

/** Written by the database: what a final order is found by beside its own symbol. */
interface OrderSymbolsTable {
  order_id: GeneratedAlways<OrderId>
  symbol: GeneratedAlways<string>
  account_id: GeneratedAlways<AccountId>
  final_status: GeneratedAlways<OrderStatus>
  entry_time: GeneratedAlways<Timestamp>
  final_modified_time: GeneratedAlways<Timestamp>
  final_exec_time: GeneratedAlways<string>
}

interface OrderBrokerIdsTable {
  account_id: AccountId
  broker_order_id: string
  order_id: OrderId
}

interface EventsTable {
  user_key: UserKey
  seq: number
  event_id: EventId
  account_id: AccountId
  topic: 'orders' | 'positions' | 'balances'
  at: Timestamp
  data: Document
}

interface StreamSlotsTable {
  session_id: string
  platform_id: PlatformId
  key_id: KeyId | null
  node_id: string
  expires_at: Timestamp
}

/** Market data sessions, for limits over all nodes. */
interface MarketSlotsTable {
  session_id: string
  address: string
  node_id: NodeId
}

/** What the portal is handling, or has just handled, for all nodes. */
interface SubmissionsTable {
  form: string
  run: string
  node_id: NodeId
  begun_at: Timestamp
  answer: NullableBytes
  is_final: Generated<boolean>
}

/** A value that the master keys of every node open. */
interface KeyChecksTable {
  id: number
  sealed: Bytes
}

interface AuditPendingTable {
  id: GeneratedAlways<number>
  entry: Document
}

interface AuditLogTable {
  position: number
  entry: Document
  hash: Bytes
}

interface AuditHeadTable {
  id: number
  position: number
  hash: Bytes
}

interface ErasuresTable {
  kind: 'account' | 'user'
  id: AccountId | UserKey
}

interface ProbesTable {
  id: number
  count: number
}

/** Nodes, with the ends of their leases. */
interface MembersTable {
  node_id: NodeId
  url: string
  name: string
  joined_at: Timestamp
  lease_ends_at: Timestamp
  renewals: Generated<number>
  is_draining: Generated<boolean>
}

interface PartitionsTable {
  partition: number
  owner: NodeId | null
  fence: Generated<number>
  claimed_at: Timestamp | null
}

interface SchemaMigrationsTable {
  number: number
  name: string
  checksum: string
  breaking: boolean
  applied_at: Timestamp
}
