-- breaking
-- The functions that write orders, for less of the database's time. One change alone is written by short statements on
-- plain values. What followed from an order's document and was stored once more, its executions, is read from the document.

comment on table orders is 'Written by record_change and record_changes only.';

-- The functions below do what these did: their conditions cost every statement on orders.
drop trigger orders_name_symbols on orders;
drop trigger orders_enter_symbols on orders;
drop function set_further_symbols();
drop function enter_order_symbols();

drop function record_changes(
  text[], text[], uuid[], boolean, int[], int[], uuid[], uuid[], uuid[], date[], text[], text[], text[], int[], int[], text[], boolean[],
  text[], text[], timestamptz[], timestamptz[], timestamptz[], uuid[], timestamptz[], int[], int[], text[], timestamptz[], text[], text[], text[]
);

-- The executions, once each, for who sums them: `leg` is 0 for the order's own, else the leg's place from 1. Inferred ones are left out.
drop table fills;
create view fills as
select order_id, leg, fill ->> 'fillId' as fill_id, (fill ->> 'at')::timestamptz as at, (fill ->> 'quantity')::numeric as quantity,
  (fill ->> 'price')::numeric as price, fill ->> 'execDest' as exec_dest
from orders
cross join lateral (select regexp_replace(document, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'gi')::jsonb as read) parsed
cross join lateral (
  select 0 as leg, read -> 'fills' as fills
  union all
  select place, leg -> 'fills' from jsonb_array_elements(nullif(read -> 'legs', 'null')) with ordinality as legs (leg, place)
) executed
cross join lateral jsonb_array_elements(fills) fill
where fill -> 'inferred' is null;

-- Enters a final order with what it is found by beside its symbol. The order is of the calling transaction.
create function enter_order_symbols(p_order uuid)
returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  insert into order_symbols (order_id, symbol, account_id, final_status, entry_time, final_modified_time, final_exec_time)
  select order_id, further, account_id, final_status, entry_time, final_modified_time, final_exec_time
  from orders cross join lateral unnest(further_symbols) further
  where order_id = p_order
  on conflict (order_id, symbol) do update set final_status = excluded.final_status, entry_time = excluded.entry_time,
    final_modified_time = excluded.final_modified_time, final_exec_time = excluded.final_exec_time;
end
$$;

-- Locks users and counts as many events for each as `p_published` says. `p_users`: each once, in the order of their keys. Gives each user's last
-- number before: null for a user who is gone, -1 for one whom somebody else writes for, if those are not to be waited for (`p_wait`).
-- After the lock every statement sees what earlier holders of it committed, so what is judged cannot change before it is written.
create function count_events(p_users uuid[], p_published int[], p_at timestamptz, p_wait boolean)
returns bigint[]
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_last bigint[];
  v_before bigint;
begin
  for u in 1 .. cardinality(p_users) loop
    if not p_wait then
      perform from user_counters where user_key = p_users[u] for update skip locked;
      if not found then
        perform from user_counters where user_key = p_users[u];
        v_last[u] := case when found then -1 end;
        continue;
      end if;
    end if;
    if p_published[u] = 0 then
      select last_seq into v_before from user_counters where user_key = p_users[u] for update;
    else
      update user_counters set last_seq = last_seq + p_published[u], oldest_at = coalesce(oldest_at, p_at) where user_key = p_users[u]
      returning last_seq - p_published[u] into v_before;
    end if;
    v_last[u] := v_before;
  end loop;
  return v_last;
end
$$;

-- Takes back what was counted beyond `p_last` because its change was not written.
create function uncount_events(p_user uuid, p_last bigint)
returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  update user_counters set last_seq = p_last, oldest_at = case when first_seq <= p_last then oldest_at end
  where user_key = p_user and last_seq > p_last;
end
$$;

-- Writes one order change. `p_over`: the revision that is written over; null for a new order. `p_event`: null for a change that is not published.
-- `p_wait`: whether to wait (briefly) for whoever else writes for the user.
-- Gives the verdict: r and the number of the event (recorded), d and the order that has its client order id (duplicate), s (stale), b (busy:
-- somebody else writes for the user). Every look-up names the columns of one index and no others, so that no plan can be a wrong one.
create function record_change(
  p_document text, p_audit text, p_user uuid, p_wait boolean, p_order uuid, p_account uuid, p_connection uuid, p_trading_day date,
  p_cl_ord_id text, p_broker_cl_ord_id text, p_broker_order_id text, p_over int, p_revision int, p_status text, p_open boolean,
  p_symbol text, p_side text, p_entered timestamptz, p_modified timestamptz, p_executed timestamptz, p_event uuid, p_at timestamptz
)
returns text
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '500ms'
as $$
declare
  v_seq bigint;
  v_user uuid;
  v_connection uuid;
  v_revision int;
  v_broker_order_id text;
  v_further text[];
  v_verdict text := 's';
begin
  if not p_wait then
    perform from user_counters where user_key = p_user for update skip locked;
    if not found then
      perform from user_counters where user_key = p_user;
      return case when found then 'b' else 's' end;
    end if;
  end if;
  if p_event is null then
    perform from user_counters where user_key = p_user for update;
  else
    update user_counters set last_seq = last_seq + 1, oldest_at = coalesce(oldest_at, p_at) where user_key = p_user
    returning last_seq into v_seq;
  end if;
  if not found then
    return 's';
  end if;

  if p_over is null then
    select user_key, connection_id into v_user, v_connection from accounts where account_id = p_account;
    if v_user = p_user and v_connection = p_connection then
      if p_symbol is null or length(p_symbol) > 15 then
        v_further := further_symbols(p_symbol, p_document);
      end if;
      insert into orders (
        order_id, user_key, account_id, connection_id, trading_day, cl_ord_id, broker_cl_ord_id, broker_order_id, revision, status, is_open,
        symbol, side, entry_time, last_modified_time, last_exec_time, final_status, final_modified_time, final_exec_time, document,
        further_symbols
      )
      values (
        p_order, p_user, p_account, p_connection, p_trading_day, p_cl_ord_id, p_broker_cl_ord_id, p_broker_order_id, p_revision, p_status,
        p_open, p_symbol, p_side, p_entered, p_modified, coalesce(p_executed, '-infinity'), case when not p_open then p_status end,
        case when not p_open then p_modified end, case when not p_open then coalesce(p_executed, '-infinity') end, p_document, v_further
      )
      on conflict do nothing;
      if found then
        v_verdict := 'r';
      end if;
    end if;
    if v_verdict <> 'r' then
      select order_id into v_user from orders where user_key = p_user and trading_day = p_trading_day and cl_ord_id = p_cl_ord_id;
      if found then
        v_verdict := 'd' || v_user;
      end if;
    end if;
  else
    select user_key, revision, broker_order_id, further_symbols into v_user, v_revision, v_broker_order_id, v_further
    from orders where order_id = p_order;
    if v_user = p_user and v_revision = p_over then
      v_verdict := 'r';
      update orders set
        broker_order_id = p_broker_order_id, revision = p_revision, status = p_status, is_open = p_open, symbol = p_symbol, side = p_side,
        entry_time = p_entered, last_modified_time = p_modified, last_exec_time = coalesce(p_executed, '-infinity'),
        final_status = case when not p_open then p_status end, final_modified_time = case when not p_open then p_modified end,
        final_exec_time = case when not p_open then coalesce(p_executed, '-infinity') end, document = p_document
      where order_id = p_order;
    end if;
  end if;
  if v_verdict <> 'r' then
    perform uncount_events(p_user, v_seq - 1);
    return v_verdict;
  end if;

  if p_event is not null then
    insert into events (user_key, seq, event_id, account_id, topic, at, data)
    values (p_user, v_seq, p_event, p_account, 'orders', p_at, p_document);
  end if;
  if p_broker_order_id is distinct from v_broker_order_id and p_broker_order_id is not null then
    insert into order_broker_ids (account_id, broker_order_id, order_id) values (p_account, p_broker_order_id, p_order) on conflict do nothing;
  end if;
  if p_audit is not null then
    insert into audit_pending (entry) values (p_audit);
  end if;
  if not p_open and v_further is not null then
    perform enter_order_symbols(p_order);
  end if;
  return concat('r', v_seq);
end
$$;

-- Writes a batch of order changes. Arguments are lists: of the users it touches, each once, in the order of their keys, with how many
-- events there are for each at most (`p_published`); and of one value a change, as for one alone. The longest come first: drivers make room as they go.
-- `p_group`: changes of one group are written all or none. `p_user`: place in `p_users`. Within a batch no order and no client order id may
-- come up twice. `p_wait`: whether to wait (briefly) for whoever else writes for one of the users, or to leave that user's changes out.
-- Gives each change's verdict, separated by commas. What is judged is few rows by their keys; what is written is one statement for each table,
-- whose lists are read by subscript: that takes neither a sort nor a copy of what is wide.
create function record_changes(
  p_document text[], p_audit text[], p_users uuid[], p_published int[], p_wait boolean,
  p_group int[], p_user int[], p_order uuid[], p_account uuid[], p_connection uuid[], p_trading_day date[], p_cl_ord_id text[],
  p_broker_cl_ord_id text[], p_broker_order_id text[], p_over int[], p_revision int[], p_status text[], p_open boolean[], p_symbol text[],
  p_side text[], p_entered timestamptz[], p_modified timestamptz[], p_executed timestamptz[], p_event uuid[], p_at timestamptz[]
)
returns text
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '500ms'
as $$
declare
  v_count int := cardinality(p_order);
  v_last bigint[] := count_events(p_users, p_published, p_at[1], p_wait);
  v_counted bigint[] := v_last;
  v_user uuid;
  v_found uuid;
  v_connection uuid;
  v_revision int;
  v_broker_order_id text;
  v_verdict text[];
  v_named boolean[];
  v_failed int[];
  v_ok boolean[];
  v_seq bigint[];
  v_new boolean := false;
  v_over boolean := false;
  v_audited boolean := false;
begin
  for i in 1 .. v_count loop
    v_user := p_users[p_user[i]];
    v_verdict[i] := 's';
    if v_last[p_user[i]] = -1 then
      v_verdict[i] := 'b';
    elsif v_last[p_user[i]] is not null and p_over[i] is null then
      select order_id into v_found from orders
      where user_key = v_user and trading_day = p_trading_day[i] and cl_ord_id = p_cl_ord_id[i];
      if found then
        v_verdict[i] := 'd' || v_found;
      else
        select user_key, connection_id into v_found, v_connection from accounts where account_id = p_account[i];
        perform from orders where order_id = p_order[i];
        if not found and v_found = v_user and v_connection = p_connection[i] then
          v_verdict[i] := 'r';
          v_named[i] := p_broker_order_id[i] is not null;
        end if;
      end if;
    elsif v_last[p_user[i]] is not null then
      select user_key, revision, broker_order_id into v_found, v_revision, v_broker_order_id
      from orders where order_id = p_order[i];
      if v_found = v_user and v_revision = p_over[i] then
        v_verdict[i] := 'r';
        v_named[i] := p_broker_order_id[i] is not null and p_broker_order_id[i] is distinct from v_broker_order_id;
      end if;
    end if;
    if v_verdict[i] <> 'r' then
      v_failed := v_failed || p_group[i];
    end if;
  end loop;

  for i in 1 .. v_count loop
    if v_verdict[i] = 'r' and v_failed is not null and p_group[i] = any (v_failed) then
      v_verdict[i] := 's';
    end if;
    if v_verdict[i] = 'r' then
      v_ok[i] := true;
      v_new := v_new or p_over[i] is null;
      v_over := v_over or p_over[i] is not null;
      v_audited := v_audited or p_audit[i] is not null;
      if p_event[i] is not null then
        v_counted[p_user[i]] := v_counted[p_user[i]] + 1;
        v_seq[i] := v_counted[p_user[i]];
        v_verdict[i] := 'r' || v_seq[i];
      end if;
    end if;
  end loop;

  if v_new then
    insert into orders (
      order_id, user_key, account_id, connection_id, trading_day, cl_ord_id, broker_cl_ord_id, broker_order_id, revision, status, is_open,
      symbol, side, entry_time, last_modified_time, last_exec_time, final_status, final_modified_time, final_exec_time, document,
      further_symbols
    )
    select p_order[i], p_users[p_user[i]], p_account[i], p_connection[i], p_trading_day[i], p_cl_ord_id[i], p_broker_cl_ord_id[i],
      p_broker_order_id[i], p_revision[i], p_status[i], p_open[i], p_symbol[i], p_side[i], p_entered[i], p_modified[i],
      coalesce(p_executed[i], '-infinity'), case when not p_open[i] then p_status[i] end, case when not p_open[i] then p_modified[i] end,
      case when not p_open[i] then coalesce(p_executed[i], '-infinity') end, p_document[i],
      case when p_symbol[i] is null or length(p_symbol[i]) > 15 then further_symbols(p_symbol[i], p_document[i]) end
    from generate_series(1, v_count) i where v_ok[i] and p_over[i] is null;
  end if;
  if v_over then
    update orders set
      broker_order_id = p_broker_order_id[i], revision = p_revision[i], status = p_status[i], is_open = p_open[i], symbol = p_symbol[i],
      side = p_side[i], entry_time = p_entered[i], last_modified_time = p_modified[i], last_exec_time = coalesce(p_executed[i], '-infinity'),
      final_status = case when not p_open[i] then p_status[i] end, final_modified_time = case when not p_open[i] then p_modified[i] end,
      final_exec_time = case when not p_open[i] then coalesce(p_executed[i], '-infinity') end, document = p_document[i]
    from generate_series(1, v_count) i where v_ok[i] and p_over[i] is not null and order_id = p_order[i];
  end if;
  if v_seq is not null then
    insert into events (user_key, seq, event_id, account_id, topic, at, data)
    select p_users[p_user[i]], v_seq[i], p_event[i], p_account[i], 'orders', p_at[i], p_document[i]
    from generate_series(1, v_count) i where v_seq[i] is not null;
  end if;
  if true = any (v_named) then
    insert into order_broker_ids (account_id, broker_order_id, order_id)
    select p_account[i], p_broker_order_id[i], p_order[i] from generate_series(1, v_count) i where v_ok[i] and v_named[i]
    on conflict do nothing;
  end if;
  if v_audited then
    insert into audit_pending (entry)
    select p_audit[i] from generate_series(1, v_count) i where v_ok[i] and p_audit[i] is not null order by i;
  end if;
  -- Only orders of options have further symbols.
  for i in 1 .. v_count loop
    if v_ok[i] and not p_open[i] and (p_symbol[i] is null or length(p_symbol[i]) > 15) then
      perform enter_order_symbols(p_order[i]);
    end if;
  end loop;
  if v_failed is not null then
    for u in 1 .. cardinality(p_users) loop
      perform uncount_events(p_users[u], v_counted[u]) where p_published[u] > 0 and v_counted[u] >= 0;
    end loop;
  end if;
  return array_to_string(v_verdict, ',');
end
$$;
