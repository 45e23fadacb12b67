-- compatible
-- Several nodes on one database (decision 33). One process alone leaves these tables as they are.
-- All times are this database's: no clock of a node is stored or compared. Every change is announced on the channel `trunkline_members`.

create table members (
  node_id uuid primary key,
  -- Where other nodes reach it.
  url text not null,
  -- For an operator's eyes: host and process.
  name text not null,
  joined_at timestamptz not null,
  lease_ends_at timestamptz not null,
  -- Grows with each renewal, so that others see it renew without a clock.
  renewals bigint not null default 0,
  is_draining boolean not null default false
);

create table partitions (
  partition int primary key check (partition between 0 and 255),
  -- A member; none while it is being moved. One that is no member any more, or whose lease has ended, is a former owner.
  owner uuid,
  -- Grows with each claim.
  fence bigint not null default 0,
  claimed_at timestamptz
);

insert into partitions (partition) select generate_series(0, 255);

-- The node may be an owner for `p_lease` from now on. Does nothing for one that has joined: the answer to an earlier call may have been lost.
create function join_members(p_node uuid, p_url text, p_name text, p_lease interval)
returns void
language plpgsql
as $$
begin
  insert into members (node_id, url, name, joined_at, lease_ends_at)
  values (p_node, p_url, p_name, clock_timestamp(), clock_timestamp() + p_lease)
  on conflict (node_id) do nothing;
  perform pg_notify('trunkline_members', '');
end
$$;

-- Renews the lease for `p_lease` from now on. False when it has ended: others may own its partitions.
create function renew_lease(p_node uuid, p_lease interval)
returns boolean
language plpgsql
as $$
declare
  v_ends_at timestamptz;
begin
  -- The clock is read after the row is locked: a claim that found the lease ended may hold it until now.
  select lease_ends_at into v_ends_at from members where node_id = p_node for no key update;
  if not found or v_ends_at <= clock_timestamp() then
    return false;
  end if;
  update members set lease_ends_at = clock_timestamp() + p_lease, renewals = renewals + 1 where node_id = p_node;
  delete from members where node_id in (
    select node_id from members where lease_ends_at <= clock_timestamp() - interval '10 minutes' for update skip locked
  );
  return true;
end
$$;

-- All members and partitions as JSON, as they are when this is called. The partitions are two lists, by number.
create function read_members()
returns json
language sql
as $$
  select json_build_object(
    'members', coalesce((
      select json_agg(json_build_object('nodeId', node_id, 'url', url, 'name', name, 'renewals', renewals, 'isDraining', is_draining,
        'leaseMs', extract(epoch from lease_ends_at - clock_timestamp()) * 1000,
        'joinedMs', extract(epoch from clock_timestamp() - joined_at) * 1000) order by node_id)
      from members), '[]'),
    'owners', (select json_agg(owner order by partition) from partitions),
    'fences', (select json_agg(fence order by partition) from partitions))
$$;

-- Claims those of `p_partitions` that have no owner, or a former one. Skips those that are being written to for more than a moment.
-- `p_silent` and `p_silent_renewals` name members that the node saw not renew for a whole lease by its monotonic clock: their leases have ended
-- even if this clock was set back meanwhile.
create function claim_partitions(p_node uuid, p_partitions int[], p_silent uuid[], p_silent_renewals bigint[])
returns int
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  v_ends_at timestamptz;
  v_ended uuid[];
  v_partition int;
  v_waits int := 0;
  v_claimed int := 0;
begin
  select lease_ends_at into v_ends_at from members where node_id = p_node and not is_draining for no key update;
  if not found or v_ends_at <= clock_timestamp() then
    return 0;
  end if;
  -- Locked until the end of this transaction, so that none of them is renewed meanwhile. A row that is being renewed now has not ended.
  -- Claims share the lock.
  v_ended := array(
    select node_id from members
    where node_id <> p_node and (lease_ends_at <= clock_timestamp()
      or exists (select from unnest(p_silent, p_silent_renewals) as silent (node, seen) where silent.node = node_id and silent.seen = renewals))
    for share skip locked
  );
  for v_partition in
    select partition from partitions
    where partition = any (p_partitions)
      and (owner is null or owner = any (v_ended) or not exists (select from members where node_id = owner))
    order by partition
  loop
    -- Exclusive: writes under the old fence are finished, and seen by the new owner. See `holds_fence`.
    if not pg_try_advisory_xact_lock(1953655664, v_partition) then
      continue when v_waits >= 3;
      v_waits := v_waits + 1;
      begin
        perform pg_advisory_xact_lock(1953655664, v_partition);
      exception when lock_not_available then
        continue;
      end;
    end if;
    update partitions set owner = p_node, fence = fence + 1, claimed_at = clock_timestamp()
    where partition = v_partition
      and (owner is null or owner = any (v_ended) or not exists (select from members where node_id = owner));
    if found then
      v_claimed := v_claimed + 1;
    end if;
  end loop;
  if v_claimed > 0 then
    perform pg_notify('trunkline_members', '');
  end if;
  return v_claimed;
end
$$;

-- The node's work for these partitions has ended; another may claim them.
create function release_partitions(p_node uuid, p_partitions int[])
returns void
language plpgsql
as $$
begin
  update partitions set owner = null where owner = p_node and partition = any (p_partitions);
  perform pg_notify('trunkline_members', '');
end
$$;

-- The node is to give all partitions away and take none. False if it is no member.
create function drain_member(p_node uuid)
returns boolean
language plpgsql
as $$
begin
  update members set is_draining = true where node_id = p_node;
  if not found then
    return false;
  end if;
  perform pg_notify('trunkline_members', '');
  return true;
end
$$;

-- The node is no member any more, and owns nothing.
create function leave_members(p_node uuid)
returns void
language plpgsql
as $$
begin
  update partitions set owner = null where owner = p_node;
  delete from members where node_id = p_node;
  perform pg_notify('trunkline_members', '');
end
$$;

-- Whether the fence is still that of the partition's owner. Until the end of the transaction nobody else becomes the owner: a claim waits, and
-- then sees what was written. Zero is the fence of a process that runs alone.
-- Each statement of a volatile function sees what was committed before it began, so the fence is read after the lock was waited for.
create function holds_fence(p_partition int, p_fence bigint)
returns boolean
language plpgsql
as $$
begin
  if p_fence = 0 then
    return true;
  end if;
  perform pg_advisory_xact_lock_shared(1953655664, p_partition);
  return exists (select from partitions where partition = p_partition and fence = p_fence);
end
$$;
