-- breaking
-- As 0019, for balances and positions, and for the audit chain.

comment on table account_records is 'Balances and positions are written by put_records only.';

drop function put_records(text[], text[], uuid[], boolean, int[], uuid[], text[], int[], timestamptz[], timestamptz[], int[], int[], uuid[]);

-- Replaces balances or positions of accounts, each kind of an account as one document, with the events that tell the differences. Arguments
-- are lists as of record_changes: of one value a replacement, and of one value an event (`p_data`, `p_event`) with the place of its replacement, in the
-- order of these. `p_over`: the version that is written over, 0 for the first. Within a batch no kind of an account may come up twice.
-- Gives each replacement's verdict, separated by commas: r and the number of its first event, s (the version was another), g (the account is
-- gone), b (busy: left out).
create function put_records(
  p_document text[], p_data text[], p_users uuid[], p_published int[], p_wait boolean,
  p_user int[], p_account uuid[], p_kind text[], p_over int[], p_confirmed timestamptz[], p_at timestamptz[], p_event_of int[], p_event uuid[]
)
returns text
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '500ms'
as $$
declare
  v_last bigint[] := count_events(p_users, p_published, p_at[1], p_wait);
  v_user uuid;
  v_of int;
  v_before int := 0;
  v_seq bigint[];
  v_verdict text[];
  v_failed boolean := false;
begin
  for i in 1 .. cardinality(p_account) loop
    v_verdict[i] := 'r';
    if v_last[p_user[i]] = -1 then
      v_verdict[i] := 'b';
    else
      select user_key into v_user from accounts where account_id = p_account[i];
      if v_last[p_user[i]] is null or v_user is distinct from p_users[p_user[i]] then
        v_verdict[i] := 'g';
      else
        if p_over[i] = 0 then
          insert into account_records (account_id, kind, version, confirmed_at, document)
          values (p_account[i], p_kind[i], 1, p_confirmed[i], p_document[i])
          on conflict do nothing;
        else
          update account_records set version = version + 1, confirmed_at = p_confirmed[i], document = p_document[i]
          where account_id = p_account[i] and kind = p_kind[i] and version = p_over[i];
        end if;
        if not found then
          v_verdict[i] := 's';
        end if;
      end if;
    end if;
    v_failed := v_failed or v_verdict[i] <> 'r';
  end loop;

  for e in 1 .. cardinality(p_event_of) loop
    v_of := p_event_of[e];
    if left(v_verdict[v_of], 1) = 'r' then
      v_seq[e] := v_last[p_user[v_of]] + 1;
      v_last[p_user[v_of]] := v_seq[e];
      if v_of <> v_before then
        v_verdict[v_of] := 'r' || v_seq[e];
        v_before := v_of;
      end if;
    end if;
  end loop;
  if v_seq is not null then
    insert into events (user_key, seq, event_id, account_id, topic, at, data)
    select p_users[p_user[p_event_of[e]]], v_seq[e], p_event[e], p_account[p_event_of[e]], p_kind[p_event_of[e]], p_at[p_event_of[e]], p_data[e]
    from generate_series(1, cardinality(p_event_of)) e where v_seq[e] is not null;
  end if;
  if v_failed then
    for u in 1 .. cardinality(p_users) loop
      perform uncount_events(p_users[u], v_last[u]) where p_published[u] > 0 and v_last[u] >= 0;
    end loop;
  end if;
  return array_to_string(v_verdict, ',');
end
$$;

-- As before (0015). An entry costs its hash and its two rows; the rest is of the whole step.
create or replace function seal_audit(p_limit int)
returns int
language plpgsql
security definer
as $$
declare
  v_position bigint;
  v_hash bytea;
  v_entries text[];
  v_hashes bytea[];
begin
  -- The head's row lock makes this the only sealer.
  select position, hash into strict v_position, v_hash from audit_head where id = 1 for update;
  with oldest as materialized (select id from audit_pending order by id limit p_limit),
    taken as (delete from audit_pending where id in (select id from oldest) returning id, entry)
  select array_agg(entry order by id) into v_entries from taken;
  if v_entries is null then
    return 0;
  end if;
  for i in 1 .. cardinality(v_entries) loop
    v_hash := sha256(v_hash || convert_to(v_entries[i], 'UTF8'));
    v_hashes[i] := v_hash;
  end loop;
  insert into audit_log (position, entry, hash)
  select v_position + i, v_entries[i], v_hashes[i] from generate_series(1, cardinality(v_entries)) i;
  update audit_head set position = v_position + cardinality(v_entries), hash = v_hash where id = 1;
  return cardinality(v_entries);
end
$$;

-- Names are looked up where the tables are, and never among another role's temporary ones.
do $$
begin
  execute format('alter function seal_audit(int) set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;
