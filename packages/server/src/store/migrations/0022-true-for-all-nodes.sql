-- compatible
-- What has to be true for all nodes of a cluster together (decision 37). One process alone leaves these tables as they are.
-- All times are this database's.

-- A value that the master keys of every node open, so that a node with other keys is refused.
create table key_checks (
  id int primary key check (id = 1),
  sealed bytea not null
);

-- Forms and returns from a broker's login that the portal is handling or has just handled: a second one, at whichever node, gets the
-- first one's answer.
create table submissions (
  -- A hash of what was submitted.
  form text primary key,
  -- The handling that is, or was, the first.
  run uuid not null,
  node_id uuid not null,
  begun_at timestamptz not null,
  -- Sealed; none while it is being handled.
  answer bytea,
  -- Whether later submissions get it too, and not only those that waited for it.
  is_final boolean not null default false
);

create index submissions_by_age on submissions (begun_at);

-- Begins to handle the form as `p_run`, unless another run does, or did within `p_ttl`: then returns that one, with its answer if there is one.
-- A run without an answer is over once its node is no living member, or after four times `p_ttl`.
-- `p_seen` is the run that the caller waits for: its answer is returned although not final.
create function begin_submission(p_form text, p_run uuid, p_node uuid, p_ttl interval, p_seen uuid)
returns table (run uuid, answer bytea)
language plpgsql
as $$
#variable_conflict use_column
begin
  delete from submissions where form in (
    select form from submissions where begun_at <= clock_timestamp() - interval '10 minutes' limit 100 for update skip locked
  );
  insert into submissions as known (form, run, node_id, begun_at) values (p_form, p_run, p_node, clock_timestamp())
  on conflict (form) do update
    set run = excluded.run, node_id = excluded.node_id, begun_at = excluded.begun_at, answer = null, is_final = false
    where case
      when known.answer is null then known.begun_at not between clock_timestamp() - 4 * p_ttl and clock_timestamp() + p_ttl
        or not exists (select from members where members.node_id = known.node_id and lease_ends_at > clock_timestamp())
      when known.run = p_seen then false
      else not known.is_final or known.begun_at not between clock_timestamp() - p_ttl and clock_timestamp() + p_ttl
    end;
  return query select submissions.run, submissions.answer from submissions where form = p_form;
end
$$;

-- Sessions of the market data stream, for limits over all nodes. A slot counts while its node is a living member: such a node ends its
-- sessions before its lease ends, so nothing has to be renewed.
create table market_slots (
  session_id uuid primary key,
  address text not null,
  node_id uuid not null
);

create index market_slots_by_address on market_slots (address);
create index market_slots_by_node on market_slots (node_id);

-- Takes one of the address's `p_limit` slots; false if all are taken.
create function take_market_slot(p_session uuid, p_address text, p_node uuid, p_limit int)
returns boolean
language plpgsql
as $$
declare
  v_taken int;
begin
  -- One caller of an address at a time, so that each sees what those before it took.
  perform pg_advisory_xact_lock(1953655665, hashtext(p_address));
  select count(*) into v_taken from market_slots
  where address = p_address and session_id <> p_session
    and exists (select from members where members.node_id = market_slots.node_id and lease_ends_at > clock_timestamp());
  if v_taken >= p_limit then
    return false;
  end if;
  insert into market_slots (session_id, address, node_id) values (p_session, p_address, p_node) on conflict (session_id) do nothing;
  return true;
end
$$;
