-- compatible
-- A place that lasts longer than any is taken for was renewed before the clock was set back, by a node that is gone: one that lives renews its
-- places within seconds, and takes again what somebody removed meanwhile.
create or replace function take_stream_place(p_platform uuid, p_session text, p_node text, p_limit int, p_ttl interval)
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
    select session_id from stream_places
    where platform_id = p_platform and (expires_at <= clock_timestamp() or expires_at > clock_timestamp() + greatest(4 * p_ttl, interval '10 minutes'))
    for update skip locked
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
