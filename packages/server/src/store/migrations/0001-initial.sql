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
);

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

-- Writes a batch of order changes. `p_users` are the users it touches, comma-separated; `p_wait` whether to wait (briefly) for whoever else
-- writes for one of them, or to leave that user's changes out; `p_changes` a JSON array, one object a change, with the
-- same letters as the column list below; `p_documents` the orders' documents in the same order, split by character 30, which JSON text cannot
-- hold. Changes of one group `g` are written all or none. Within a batch no order and no client order id may come up twice.
-- Gives each change's verdict: recorded (with the number of its event), duplicate (of which order), stale, or busy (left out).
-- After the lock every statement sees what earlier holders of it committed, so what is judged cannot change before it is written. Lookups are
-- lateral with a limit and writes are upserts so that no table size and no missing statistics can turn the plan into a scan.
create function record_changes(p_users text, p_wait boolean, p_changes json, p_documents text)
returns table (place bigint, verdict text, existing uuid, seq bigint)
language plpgsql
set enable_seqscan = off
set jit = off
set lock_timeout = '500ms'
as $$
#variable_conflict use_column
declare
  v_users uuid[] := string_to_array(p_users, ',');
  v_held uuid[];
begin
  if p_wait then
    perform 1 from user_counters where user_key = any (v_users) order by user_key for update;
  else
    v_held := array(select user_key from user_counters where user_key = any (v_users) order by user_key for update skip locked);
  end if;

  return query
  with input as (
    select * from rows from (
      json_to_recordset(p_changes) as (
        g int, u uuid, o uuid, a uuid, c uuid, d date, k text, n text, b text, v int, r int, s text, p boolean, y text, i text,
        e timestamptz, m timestamptz, x timestamptz, t boolean, id uuid, at timestamptz, w text, f json
      ),
      unnest(string_to_array(p_documents, chr(30)))
    ) with ordinality as input (g, u, o, a, c, d, k, n, b, v, r, s, p, y, i, e, m, x, t, id, at, w, f, document, place)
  ), judged as (
    select input.*, counter.last_seq, known.broker_order_id, taken.order_id as taken,
      case
        when counter.last_seq is null then 'stale'
        when not p_wait and u <> all (v_held) then 'busy'
        when v is not null then case when known.revision = v then 'recorded' else 'stale' end
        when taken.order_id is not null then 'duplicate'
        when known.revision is not null or account.account_id is null then 'stale'
        else 'recorded'
      end as judgement
    from input
    left join lateral (select last_seq from user_counters where user_key = u limit 1) counter on true
    left join lateral (select revision, broker_order_id from orders where order_id = o and user_key = u limit 1) known on true
    left join lateral (
      select order_id from orders where v is null and user_key = u and trading_day = d and cl_ord_id = k limit 1
    ) taken on true
    left join lateral (
      select account_id from accounts where v is null and account_id = a and connection_id = c and user_key = u limit 1
    ) account on true
  ), admitted as (
    select judged.*, bool_and(judgement = 'recorded') over (partition by g) as ok from judged
  ), numbered as materialized (
    select admitted.*, ok and t as told,
      case when ok and t then last_seq + count(*) filter (where ok and t) over (partition by u order by place rows unbounded preceding) end as seq
    from admitted
  ), written as (
    insert into orders (
      order_id, user_key, account_id, connection_id, trading_day, cl_ord_id, broker_cl_ord_id, broker_order_id, revision, status, is_open,
      symbol, side, entry_time, last_modified_time, last_exec_time, final_status, final_modified_time, final_exec_time, document
    )
    select o, u, a, c, d, k, n, b, r, s, p, y, i, e, m, coalesce(x, '-infinity'),
      case when not p then s end, case when not p then m end, case when not p then coalesce(x, '-infinity') end, document
    from numbered where ok
    on conflict (order_id) do update set
      broker_order_id = excluded.broker_order_id, revision = excluded.revision, status = excluded.status, is_open = excluded.is_open,
      symbol = excluded.symbol, side = excluded.side, entry_time = excluded.entry_time, last_modified_time = excluded.last_modified_time,
      last_exec_time = excluded.last_exec_time, final_status = excluded.final_status, final_modified_time = excluded.final_modified_time,
      final_exec_time = excluded.final_exec_time, document = excluded.document
  ), counted as (
    insert into user_counters as counter (user_key, last_seq, oldest_at) select u, max(seq), min(at) from numbered where told group by u
    on conflict (user_key) do update set last_seq = excluded.last_seq, oldest_at = coalesce(counter.oldest_at, excluded.oldest_at)
  ), logged as (
    insert into events (user_key, seq, event_id, account_id, topic, at, data)
    select u, seq, id, a, 'orders', at, document from numbered where told
  ), named as (
    insert into order_broker_ids (account_id, broker_order_id, order_id)
    select a, b, o from numbered where ok and b is not null and b is distinct from broker_order_id
    on conflict do nothing
  ), filled as (
    insert into fills (order_id, leg, fill_id, at, quantity, price, exec_dest)
    select o, fill.l, fill.i, fill.t, fill.q, fill.p, fill.d
    from numbered cross join lateral json_to_recordset(numbered.f) as fill (l smallint, i text, t timestamptz, q numeric, p numeric, d text)
    where ok and numbered.f is not null
    on conflict do nothing
  ), audited as (
    insert into audit_pending (entry) select w from numbered where ok and w is not null order by place
  )
  select place,
    case when ok then 'recorded' when judgement in ('duplicate', 'busy') then judgement else 'stale' end,
    case when judgement = 'duplicate' then taken end,
    seq
  from numbered;
end
$$;

-- Replaces an account's balances or positions over version `p_over`, with the events that tell the differences (`p_events`, a JSON array of
-- event ids and topics, and their data split by character 30; null when there are none). Gives the number of the first event, 0 when none;
-- -1 when the version was another, null when the account is gone.
create function put_records(
  p_user uuid, p_account uuid, p_kind text, p_over int, p_confirmed timestamptz, p_document text, p_at timestamptz, p_events json, p_data text
)
returns bigint
language plpgsql
set enable_seqscan = off
set jit = off
set lock_timeout = '500ms'
as $$
declare
  v_last bigint;
  v_told bigint := 0;
begin
  select last_seq into v_last from user_counters where user_key = p_user for update;
  if v_last is null or not exists (select from accounts where account_id = p_account and user_key = p_user) then
    return null;
  end if;
  if coalesce((select version from account_records where account_id = p_account and kind = p_kind), 0) <> p_over then
    return -1;
  end if;
  insert into account_records as known (account_id, kind, version, confirmed_at, document)
  values (p_account, p_kind, p_over + 1, p_confirmed, p_document)
  on conflict (account_id, kind) do update
    set version = excluded.version, confirmed_at = excluded.confirmed_at, document = excluded.document;
  if p_events is null then
    return 0;
  end if;
  insert into events (user_key, seq, event_id, account_id, topic, at, data)
  select p_user, v_last + told.place, told.id, p_account, p_kind, p_at, told.data
  from rows from (json_to_recordset(p_events) as (id uuid), unnest(string_to_array(p_data, chr(30)))) with ordinality as told (id, data, place);
  get diagnostics v_told = row_count;
  update user_counters set last_seq = v_last + v_told, oldest_at = coalesce(oldest_at, p_at) where user_key = p_user;
  return v_last + 1;
end
$$;

-- Erases up to `p_limit` events logged before `p_before`, of each user the oldest first, up to the first that is not as old: what is kept has
-- no gaps. A user who is being written for is left for another time. Gives how many events went.
create function prune_events(p_before timestamptz, p_limit int)
returns int
language plpgsql
set enable_seqscan = off
as $$
declare
  v_user uuid;
  v_gone int := 0;
  v_rows int;
begin
  for v_user in
    select user_key from user_counters where oldest_at < p_before order by oldest_at limit p_limit for update skip locked
  loop
    with found as (
      select seq, bool_and(at < p_before) over (order by seq rows unbounded preceding) as is_old
      from (select seq, at from events where user_key = v_user order by seq limit p_limit - v_gone) oldest
    )
    delete from events where user_key = v_user and seq <= (select max(seq) from found where is_old);
    get diagnostics v_rows = row_count;
    v_gone := v_gone + v_rows;
    update user_counters set first_seq = coalesce(kept.seq, last_seq + 1), oldest_at = kept.at
    from (select) one left join lateral (select seq, at from events where user_key = v_user order by seq limit 1) kept on true
    where user_key = v_user;
    exit when v_gone >= p_limit;
  end loop;
  return v_gone;
end
$$;
