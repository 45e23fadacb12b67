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

-- Writes a batch of order changes. Arguments are lists: the users it touches (each once, in the order of their keys), then one value a change,
-- then one value an execution with the place of its change. `p_group`: changes of one group are written all or none. `p_user`: place in
-- `p_users`. `p_over`: the revision that is written over; null for a new order. `p_event`: null for a change that is not told. Within a batch
-- no order and no client order id may come up twice. `p_wait`: whether to wait (briefly) for whoever else writes for one of the users, or to
-- leave that user's changes out.
-- Gives each change's verdict, separated by commas: r and the number of its event (recorded), d and the order that has its client order id
-- (duplicate), s (stale), b (busy: left out).
-- After the lock every statement sees what earlier holders of it committed, so what is judged cannot change before it is written. Lists are
-- read by subscript: that takes neither a sort nor a copy of what is wide. Plans are made once, maybe while a table is empty: every look-up
-- names the columns of one index and no others, so that no plan can be a wrong one.
create function record_changes(
  p_users uuid[], p_wait boolean,
  p_group int[], p_user int[], p_order uuid[], p_account uuid[], p_connection uuid[], p_trading_day date[], p_cl_ord_id text[],
  p_broker_cl_ord_id text[], p_broker_order_id text[], p_over int[], p_revision int[], p_status text[], p_open boolean[], p_symbol text[],
  p_side text[], p_entered timestamptz[], p_modified timestamptz[], p_executed timestamptz[], p_event uuid[], p_at timestamptz[],
  p_audit text[], p_document text[],
  p_fill_of int[], p_fill_leg int[], p_fill_id text[], p_fill_at timestamptz[], p_fill_quantity text[], p_fill_price text[], p_fill_dest text[]
)
returns text
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
set lock_timeout = '500ms'
as $$
declare
  v_count int := cardinality(p_order);
  v_last bigint[];
  v_busy boolean[];
  v_ok boolean[];
  v_seq bigint[];
  v_named boolean[];
  v_answer text;
begin
  if p_wait then
    select array_agg(held.last_seq order by place) into v_last
    from unnest(p_users) with ordinality as wanted (u, place)
    left join lateral (select last_seq from user_counters where user_key = u for update) held on true;
  else
    select array_agg(held.last_seq order by place), array_agg(known.user_key is not null and held.last_seq is null order by place)
    into v_last, v_busy
    from unnest(p_users) with ordinality as wanted (u, place)
    left join lateral (select last_seq from user_counters where user_key = u for update skip locked) held on true
    left join lateral (select user_key from user_counters where user_key = u limit 1) known on true;
  end if;

  select array_agg(ok order by i), array_agg(seq order by i), array_agg(ok and named order by i),
    string_agg(
      case when ok then 'r' || coalesce(seq::text, '') when judgement = 'd' then 'd' || taken when judgement = 'b' then 'b' else 's' end,
      ',' order by i
    )
  into v_ok, v_seq, v_named, v_answer
  from (
    select i, ok, named, judgement, taken,
      case when ok and p_event[i] is not null
        then v_last[p_user[i]] + count(*) filter (where ok and p_event[i] is not null)
          over (partition by p_user[i] order by i rows unbounded preceding)
      end as seq
    from (
      select i, named, judgement, taken, bool_and(judgement = 'r') over (partition by p_group[i]) as ok
      from (
        select i, p_broker_order_id[i] is not null and p_broker_order_id[i] is distinct from known.broker_order_id as named,
          taken.order_id as taken,
          case
            when v_last[p_user[i]] is null then case when v_busy[p_user[i]] then 'b' else 's' end
            when p_over[i] is not null
              then case when known.revision = p_over[i] and known.user_key = p_users[p_user[i]] then 'r' else 's' end
            when taken.order_id is not null then 'd'
            when known.revision is null and account.user_key = p_users[p_user[i]] and account.connection_id = p_connection[i] then 'r'
            else 's'
          end as judgement
        from generate_series(1, v_count) i
        left join lateral (
          select user_key, revision, broker_order_id from orders where order_id = p_order[i] limit 1
        ) known on true
        left join lateral (
          select order_id from orders
          where p_over[i] is null and user_key = p_users[p_user[i]] and trading_day = p_trading_day[i] and cl_ord_id = p_cl_ord_id[i] limit 1
        ) taken on true
        left join lateral (
          select user_key, connection_id from accounts where p_over[i] is null and account_id = p_account[i] limit 1
        ) account on true
      ) judged
    ) admitted
  ) numbered;

  if array_position(p_over, null) is not null then
    insert into orders (
      order_id, user_key, account_id, connection_id, trading_day, cl_ord_id, broker_cl_ord_id, broker_order_id, revision, status, is_open,
      symbol, side, entry_time, last_modified_time, last_exec_time, final_status, final_modified_time, final_exec_time, document
    )
    select p_order[i], p_users[p_user[i]], p_account[i], p_connection[i], p_trading_day[i], p_cl_ord_id[i], p_broker_cl_ord_id[i],
      p_broker_order_id[i], p_revision[i], p_status[i], p_open[i], p_symbol[i], p_side[i], p_entered[i], p_modified[i],
      coalesce(p_executed[i], '-infinity'), case when not p_open[i] then p_status[i] end, case when not p_open[i] then p_modified[i] end,
      case when not p_open[i] then coalesce(p_executed[i], '-infinity') end, p_document[i]
    from generate_series(1, v_count) i where v_ok[i] and p_over[i] is null;
  end if;

  update orders set
    broker_order_id = p_broker_order_id[i], revision = p_revision[i], status = p_status[i], is_open = p_open[i], symbol = p_symbol[i],
    side = p_side[i], entry_time = p_entered[i], last_modified_time = p_modified[i], last_exec_time = coalesce(p_executed[i], '-infinity'),
    final_status = case when not p_open[i] then p_status[i] end, final_modified_time = case when not p_open[i] then p_modified[i] end,
    final_exec_time = case when not p_open[i] then coalesce(p_executed[i], '-infinity') end, document = p_document[i]
  from generate_series(1, v_count) i where v_ok[i] and p_over[i] is not null and order_id = p_order[i];

  insert into events (user_key, seq, event_id, account_id, topic, at, data)
  select p_users[p_user[i]], v_seq[i], p_event[i], p_account[i], 'orders', p_at[i], p_document[i]
  from generate_series(1, v_count) i where v_seq[i] is not null;

  update user_counters set last_seq = told.seq, oldest_at = coalesce(oldest_at, told.at)
  from (
    select p_user[i] as place, max(v_seq[i]) as seq, min(p_at[i]) as at from generate_series(1, v_count) i where v_seq[i] is not null group by 1
  ) told
  where user_key = p_users[told.place];

  if true = any (v_named) then
    insert into order_broker_ids (account_id, broker_order_id, order_id)
    select p_account[i], p_broker_order_id[i], p_order[i] from generate_series(1, v_count) i where v_named[i]
    on conflict do nothing;
  end if;
  if cardinality(p_fill_of) > 0 then
    insert into fills (order_id, leg, fill_id, at, quantity, price, exec_dest)
    select p_order[p_fill_of[f]], p_fill_leg[f], p_fill_id[f], p_fill_at[f], p_fill_quantity[f]::numeric, p_fill_price[f]::numeric, p_fill_dest[f]
    from generate_series(1, cardinality(p_fill_of)) f where v_ok[p_fill_of[f]]
    on conflict do nothing;
  end if;
  if cardinality(array_remove(p_audit, null)) > 0 then
    insert into audit_pending (entry)
    select p_audit[i] from generate_series(1, v_count) i where v_ok[i] and p_audit[i] is not null order by i;
  end if;
  return v_answer;
end
$$;

-- Replaces balances or positions of accounts, each kind of an account as one document, with the events that tell the differences. Arguments
-- are lists as above: one value a replacement, then one value an event with the place of its replacement. `p_over`: the version that is
-- written over, 0 for the first. `p_first`: the place of its first event; null where it has none. Within a batch no kind of an account may
-- come up twice.
-- Gives each replacement's verdict, separated by commas: r and the number of its first event, s (the version was another), g (the account is
-- gone), b (busy: left out).
create function put_records(
  p_users uuid[], p_wait boolean,
  p_user int[], p_account uuid[], p_kind text[], p_over int[], p_confirmed timestamptz[], p_document text[], p_at timestamptz[],
  p_first int[], p_event_of int[], p_event uuid[], p_data text[]
)
returns text
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
set lock_timeout = '500ms'
as $$
declare
  v_count int := cardinality(p_account);
  v_events int := cardinality(p_event_of);
  v_last bigint[];
  v_busy boolean[];
  v_verdict text[];
  v_seq bigint[];
begin
  if p_wait then
    select array_agg(held.last_seq order by place) into v_last
    from unnest(p_users) with ordinality as wanted (u, place)
    left join lateral (select last_seq from user_counters where user_key = u for update) held on true;
  else
    select array_agg(held.last_seq order by place), array_agg(known.user_key is not null and held.last_seq is null order by place)
    into v_last, v_busy
    from unnest(p_users) with ordinality as wanted (u, place)
    left join lateral (select last_seq from user_counters where user_key = u for update skip locked) held on true
    left join lateral (select user_key from user_counters where user_key = u limit 1) known on true;
  end if;

  select array_agg(
    case
      when v_busy[p_user[i]] then 'b'
      when v_last[p_user[i]] is null or account.user_key is distinct from p_users[p_user[i]] then 'g'
      when coalesce(known.version, 0) <> p_over[i] then 's'
      else 'r'
    end order by i)
  into v_verdict
  from generate_series(1, v_count) i
  left join lateral (
    select user_key from accounts where account_id = p_account[i] limit 1
  ) account on true
  left join lateral (
    select version from account_records where account_id = p_account[i] and kind = p_kind[i] limit 1
  ) known on true;

  insert into account_records (account_id, kind, version, confirmed_at, document)
  select p_account[i], p_kind[i], 1, p_confirmed[i], p_document[i]
  from generate_series(1, v_count) i where v_verdict[i] = 'r' and p_over[i] = 0;
  update account_records set version = p_over[i] + 1, confirmed_at = p_confirmed[i], document = p_document[i]
  from generate_series(1, v_count) i where v_verdict[i] = 'r' and p_over[i] > 0 and account_id = p_account[i] and kind = p_kind[i];
  if v_events = 0 then
    return array_to_string(v_verdict, ',');
  end if;

  select array_agg(seq order by e) into v_seq
  from (
    select e, case when v_verdict[p_event_of[e]] = 'r'
      then v_last[p_user[p_event_of[e]]] + count(*) filter (where v_verdict[p_event_of[e]] = 'r')
        over (partition by p_user[p_event_of[e]] order by e rows unbounded preceding)
      end as seq
    from generate_series(1, v_events) e
  ) numbered;
  insert into events (user_key, seq, event_id, account_id, topic, at, data)
  select p_users[p_user[p_event_of[e]]], v_seq[e], p_event[e], p_account[p_event_of[e]], p_kind[p_event_of[e]], p_at[p_event_of[e]], p_data[e]
  from generate_series(1, v_events) e where v_seq[e] is not null;
  update user_counters set last_seq = told.seq, oldest_at = coalesce(oldest_at, told.at)
  from (
    select p_user[p_event_of[e]] as place, max(v_seq[e]) as seq, min(p_at[p_event_of[e]]) as at
    from generate_series(1, v_events) e where v_seq[e] is not null group by 1
  ) told
  where user_key = p_users[told.place];
  return (select string_agg(v_verdict[i] || coalesce(v_seq[p_first[i]]::text, ''), ',' order by i) from generate_series(1, v_count) i);
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
