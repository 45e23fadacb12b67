-- breaking
-- The functions that write orders, balances, positions and their events, and the one that erases old events.

-- Writes a batch of order changes. Arguments are lists: of the users it touches, each once, in the order of their keys; of one value a change;
-- and of one value an execution, with the place of its change. The longest come first: drivers make room as they go. `p_group`: changes of one group are written all or none. `p_user`: place in
-- `p_users`. `p_over`: the revision that is written over; null for a new order. `p_event`: null for a change that is not told. Within a batch
-- no order and no client order id may come up twice. `p_wait`: whether to wait (briefly) for whoever else writes for one of the users, or to
-- leave that user's changes out.
-- Gives each change's verdict, separated by commas: r and the number of its event (recorded), d and the order that has its client order id
-- (duplicate), s (stale), b (busy: left out).
-- After the lock every statement sees what earlier holders of it committed, so what is judged cannot change before it is written. Lists are
-- read by subscript: that takes neither a sort nor a copy of what is wide. Plans are made once, maybe while a table is empty: every look-up
-- names the columns of one index and no others, so that no plan can be a wrong one.
create function record_changes(
  p_document text[], p_audit text[], p_users uuid[], p_wait boolean,
  p_group int[], p_user int[], p_order uuid[], p_account uuid[], p_connection uuid[], p_trading_day date[], p_cl_ord_id text[],
  p_broker_cl_ord_id text[], p_broker_order_id text[], p_over int[], p_revision int[], p_status text[], p_open boolean[], p_symbol text[],
  p_side text[], p_entered timestamptz[], p_modified timestamptz[], p_executed timestamptz[], p_event uuid[], p_at timestamptz[],
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
-- are lists as above: of one value a replacement, and of one value an event (`p_data` and the last two) with the place of its replacement. `p_over`: the version that is
-- written over, 0 for the first. `p_first`: the place of its first event; null where it has none. Within a batch no kind of an account may
-- come up twice.
-- Gives each replacement's verdict, separated by commas: r and the number of its first event, s (the version was another), g (the account is
-- gone), b (busy: left out).
create function put_records(
  p_document text[], p_data text[], p_users uuid[], p_wait boolean,
  p_user int[], p_account uuid[], p_kind text[], p_over int[], p_confirmed timestamptz[], p_at timestamptz[],
  p_first int[], p_event_of int[], p_event uuid[]
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
