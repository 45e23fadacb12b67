-- breaking
-- The first schema. Indexed text has the "C" collation: it sorts by bytes everywhere, and no operating system's upgrade reorders an index.
-- Timestamps are UTC with microseconds. Documents are JSON texts of the domain's records: they come back byte for byte, so decimals keep
-- their written form; the columns beside them are what rows are found and sorted by. An order's document is an array of its members' values
-- in the order that `documents.ts` gives, half as long as with their names: orders and their events are most of what is ever written.

create table platforms (
  platform_id uuid primary key,
  client_id text collate "C" not null unique,
  secret_hash text not null,
  name text not null,
  redirect_allow_list text not null,
  created_at timestamptz not null
);

create table users (
  user_key uuid primary key,
  platform_id uuid not null references platforms,
  user_id text collate "C" not null,
  secret_hash text not null,
  created_at timestamptz not null,
  unique (platform_id, user_id)
);
create index users_by_creation on users (platform_id, created_at, user_key);

-- The numbers of the user's events that are kept (`first_seq` is `last_seq + 1` when none is), and when the oldest of them was logged. Its
-- row lock is also the lock of everything under the user: whoever writes orders, events, connections or account records of a user takes it
-- first, so those tables need no foreign keys on the hot path and removing waits for writers.
create table user_counters (
  user_key uuid primary key references users on delete cascade,
  first_seq bigint not null default 1,
  last_seq bigint not null,
  oldest_at timestamptz
) with (fillfactor = 50);
-- Its column moves with pruning only, so that counting stays within the row's page.
create index user_counters_by_oldest on user_counters (oldest_at) where oldest_at is not null;

create table connection_attempts (
  attempt_id uuid primary key,
  platform_id uuid not null,
  user_key uuid not null references users on delete cascade,
  token_hash text collate "C" not null unique,
  connection_type text not null,
  broker text,
  chosen_broker text,
  redirect_url text,
  redirect_on_error_url text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  status text not null,
  browser_hash text,
  state_hash text collate "C" unique,
  verifier bytea,
  verifier_revision int
);
create index connection_attempts_by_user on connection_attempts (user_key);
create index connection_attempts_by_expiry on connection_attempts (expires_at);

create table connections (
  connection_id uuid primary key,
  platform_id uuid not null,
  user_key uuid not null references users on delete cascade,
  user_id text not null,
  broker text not null,
  connection_type text not null,
  status text collate "C" not null,
  broken_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index connections_by_user on connections (user_key, created_at, connection_id);
create index connections_by_platform on connections (platform_id, created_at, connection_id);
create index connections_by_status on connections (platform_id, status, created_at, connection_id);

create table connection_credentials (
  connection_id uuid primary key references connections on delete cascade,
  user_key uuid not null,
  sealed bytea not null,
  revision int not null,
  -- Null until a re-wrapping has looked at it: only the vault can read which key a seal was made with.
  key_id text
);

-- Logins of removed connections, kept until the broker has been told. No foreign keys: their users and connections are gone.
create table revocations (
  connection_id uuid primary key,
  user_key uuid not null,
  broker text not null,
  sealed bytea not null,
  revision int not null,
  key_id text,
  attempts int not null default 0,
  removed_at timestamptz not null,
  due_at timestamptz not null
);
create index revocations_by_due on revocations (due_at);

create table accounts (
  account_id uuid primary key,
  connection_id uuid not null references connections on delete cascade,
  user_key uuid not null,
  -- Its place in the broker's own list.
  place int not null,
  account_number text collate "C" not null,
  broker_account_id text not null,
  institution_name text not null,
  broker text not null,
  name text,
  account_type text,
  currency text
);
create index accounts_by_connection on accounts (connection_id, place);
create index accounts_by_user on accounts (user_key);
create index accounts_by_number on accounts (account_number);

-- The last known balances and positions of an account, each kind one document, and when each kind of its records was last confirmed.
create table account_records (
  account_id uuid references accounts on delete cascade,
  kind text collate "C",
  version int not null,
  confirmed_at timestamptz not null,
  document text not null,
  primary key (account_id, kind)
) with (fillfactor = 50, toast_tuple_target = 4080);
alter table account_records alter column document set storage main;

create table transactions (
  transaction_id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  broker_transaction_id text collate "C" not null,
  day date not null,
  document text not null,
  unique (account_id, broker_transaction_id)
);
create index transactions_by_day on transactions (account_id, day, transaction_id);

create table market_data_tokens (
  token_hash text collate "C" primary key,
  user_key uuid not null,
  connection_id uuid not null references connections on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  superseded_at timestamptz
);
create index market_data_tokens_by_connection on market_data_tokens (connection_id);
create index market_data_tokens_by_expiry on market_data_tokens (expires_at);

-- An open order changes often and in place: none of its indexed columns move until it is final, when the `final_` columns are set and it
-- enters the indexes that serve lists of final orders. `-infinity` stands for no execution yet: it sorts as the oldest.
create table orders (
  order_id uuid primary key,
  user_key uuid not null,
  account_id uuid not null,
  connection_id uuid not null,
  trading_day date not null,
  cl_ord_id text collate "C" not null,
  broker_cl_ord_id text collate "C" not null,
  broker_order_id text collate "C",
  revision int not null,
  status text collate "C" not null,
  is_open boolean not null,
  symbol text collate "C",
  side text collate "C" not null,
  entry_time timestamptz not null,
  last_modified_time timestamptz not null,
  last_exec_time timestamptz not null,
  final_status text collate "C",
  final_modified_time timestamptz,
  final_exec_time timestamptz,
  document text not null
) with (fillfactor = 50, toast_tuple_target = 4080);
alter table orders alter column document set storage main;
create unique index orders_by_cl_ord_id on orders (user_key, trading_day, cl_ord_id);
create index orders_by_broker_cl_ord_id on orders (account_id, broker_cl_ord_id);
create index orders_open on orders (account_id, entry_time, order_id) where is_open;
create index orders_final on orders (account_id, entry_time, order_id) where final_status is not null;
create index orders_final_by_entry on orders (account_id, final_status, entry_time, order_id) where final_status is not null;
create index orders_final_by_modified on orders (account_id, final_status, final_modified_time, order_id) where final_status is not null;
create index orders_final_by_exec on orders (account_id, final_status, final_exec_time, order_id) where final_status is not null;
create index orders_symbol_by_entry on orders (account_id, symbol, final_status, entry_time, order_id) where final_status is not null;
create index orders_symbol_by_modified on orders (account_id, symbol, final_status, final_modified_time, order_id) where final_status is not null;
create index orders_symbol_by_exec on orders (account_id, symbol, final_status, final_exec_time, order_id) where final_status is not null;

-- What removed users and connections leave behind for erasing in small steps: orders of these accounts, events of these users.
create table erasures (
  kind text collate "C" not null check (kind in ('account', 'user')),
  id uuid not null,
  primary key (kind, id)
);

-- Every id a broker has ever given an order. A table of its own, so that learning the id does not move the order in all its indexes.
create table order_broker_ids (
  account_id uuid not null,
  broker_order_id text collate "C" not null,
  order_id uuid not null,
  primary key (account_id, broker_order_id, order_id)
);

-- The executions, once each. `leg` is 0 for the order's own, else the leg's place from 1. Never updated.
create table fills (
  order_id uuid not null,
  leg smallint not null,
  fill_id text collate "C" not null,
  at timestamptz not null,
  quantity numeric not null,
  price numeric not null,
  exec_dest text,
  primary key (order_id, leg, fill_id)
);

create table events (
  user_key uuid not null,
  seq bigint not null,
  event_id uuid not null,
  account_id uuid not null,
  topic text not null,
  at timestamptz not null,
  data text not null,
  primary key (user_key, seq)
) with (toast_tuple_target = 4080);
alter table events alter column data set storage main;

-- Audit entries are first written here, in the transaction of what they describe, and soon moved into the chain.
create table audit_pending (
  id bigint generated always as identity primary key,
  entry text not null
);

create table audit_log (
  position bigint primary key,
  entry text not null,
  -- SHA-256 over the hash before it and the entry's text.
  hash bytea not null
);

create table audit_head (
  id int primary key check (id = 1),
  position bigint not null,
  hash bytea not null
);
insert into audit_head (id, position, hash) values (1, 0, decode(repeat('00', 32), 'hex'));

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_log_rows before update or delete on audit_log for each row execute function refuse_audit_change();
create trigger audit_log_table before truncate on audit_log execute function refuse_audit_change();

create table probes (
  id int primary key check (id = 1),
  count bigint not null
) with (fillfactor = 10);
insert into probes (id, count) values (1, 0);
