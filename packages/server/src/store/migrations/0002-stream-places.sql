-- compatible
-- Which stream sessions hold a place of their platform. A place that ran out counts for as long as its row is there, and whoever wants one
-- of the platform's places removes those rows first: so a node that was late may renew what is still there.
create table stream_places (
  session_id text collate "C" primary key,
  platform_id uuid not null,
  node_id text collate "C" not null,
  expires_at timestamptz not null
) with (fillfactor = 50);
create index stream_places_by_platform on stream_places (platform_id);
create index stream_places_by_node on stream_places (node_id);

-- Takes one of the platform's `p_limit` places until `p_ttl` from now by this clock; again for a session that has one. False when all are
-- taken, or there is no such platform. The platform's row is locked first, so that whoever counts sees what those before it took.
create function take_stream_place(p_platform uuid, p_session text, p_node text, p_limit int, p_ttl interval)
returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
  v_taken int;
begin
  perform from platforms where platform_id = p_platform for no key update;
  if not found then
    return false;
  end if;
  -- A row that is being renewed right now has not run out.
  delete from stream_places where session_id in (
    select session_id from stream_places where platform_id = p_platform and expires_at <= clock_timestamp() for update skip locked
  );
  select count(*) into v_taken from stream_places where platform_id = p_platform and session_id <> p_session;
  if v_taken >= p_limit then
    return false;
  end if;
  insert into stream_places (session_id, platform_id, node_id, expires_at) values (p_session, p_platform, p_node, clock_timestamp() + p_ttl)
  on conflict (session_id) do update set expires_at = excluded.expires_at;
  return true;
end
$$;
