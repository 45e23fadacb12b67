-- compatible
-- What a role that may only read and add to the audit log and the events still has to do, as functions of the owner: to seal audit entries, and to
-- erase events that are due.

-- Moves up to `p_limit` waiting entries into the chain, oldest first. Gives how many.
create function seal_audit(p_limit int)
returns int
language plpgsql
security definer
as $$
declare
  v_position bigint;
  v_hash bytea;
  v_waiting record;
  v_count int := 0;
begin
  -- The head's row lock makes this the only sealer.
  select position, hash into strict v_position, v_hash from audit_head where id = 1 for update;
  for v_waiting in select id, entry from audit_pending order by id limit p_limit loop
    v_position := v_position + 1;
    v_hash := sha256(v_hash || convert_to(v_waiting.entry, 'UTF8'));
    insert into audit_log (position, entry, hash) values (v_position, v_waiting.entry, v_hash);
    delete from audit_pending where id = v_waiting.id;
    v_count := v_count + 1;
  end loop;
  if v_count > 0 then
    update audit_head set position = v_position, hash = v_hash where id = 1;
  end if;
  return v_count;
end
$$;

-- As before, and run as the owner. Another role may erase what is at least about a day old, which is the least that is kept.
create or replace function prune_events(p_before timestamptz, p_limit int)
returns int
language plpgsql
security definer
set enable_seqscan = off
as $$
declare
  v_user uuid;
  v_gone int := 0;
  v_rows int;
begin
  if session_user <> current_user and p_before > clock_timestamp() - interval '23 hours' then
    raise exception 'events of the last day are not erased' using errcode = 'insufficient_privilege';
  end if;
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

-- Erases up to `p_limit` events of a user who is gone, oldest first. Gives how many.
create function erase_events(p_user uuid, p_limit int)
returns int
language plpgsql
security definer
as $$
declare
  v_rows int;
begin
  if exists (select from users where user_key = p_user) then
    raise exception 'events of a user who is there are not erased' using errcode = 'insufficient_privilege';
  end if;
  with doomed as materialized (select seq from events where user_key = p_user order by seq limit p_limit)
  delete from events where user_key = p_user and seq <= (select max(seq) from doomed);
  get diagnostics v_rows = row_count;
  return v_rows;
end
$$;

-- Names are looked up where the tables are, and never among another role's temporary ones.
do $$
declare
  v_function text;
begin
  foreach v_function in array array['seal_audit(int)', 'prune_events(timestamptz, int)', 'erase_events(uuid, int)'] loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', v_function, current_schema());
    execute format('revoke execute on function %s from public', v_function);
  end loop;
end
$$;
