-- compatible
-- What was made with a platform's key ends with it. Links of before do not say their key; they live for half an hour.
alter table connection_attempts add column key_id uuid;
-- The hash of the client secret a token was had with. Tokens of before do not have it; they live for a day.
alter table market_data_tokens add column key_secret_hash text;

-- Stream sessions are counted by key. A session of before, or of a program that does not know this, counts for the platform's first key.
alter table stream_places add column key_id uuid;
create index stream_places_by_key on stream_places (coalesce(key_id, platform_id));

-- As take_stream_place, for a key. The key's row is locked first, so that whoever counts sees what those before it took.
create function take_key_stream_place(p_platform uuid, p_key uuid, p_session text, p_node text, p_limit int, p_ttl interval)
returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
  v_taken int;
begin
  perform from platform_keys where key_id = p_key and platform_id = p_platform for no key update;
  if not found then
    return false;
  end if;
  -- A row that is being renewed right now has not run out.
  delete from stream_places where session_id in (
    select session_id from stream_places
    where coalesce(key_id, platform_id) = p_key
      and (expires_at <= clock_timestamp() or expires_at > clock_timestamp() + greatest(4 * p_ttl, interval '10 minutes'))
    for update skip locked
  );
  select count(*) into v_taken from stream_places where coalesce(key_id, platform_id) = p_key and session_id <> p_session;
  if v_taken >= p_limit then
    return false;
  end if;
  insert into stream_places (session_id, platform_id, key_id, node_id, expires_at)
  values (p_session, p_platform, p_key, p_node, clock_timestamp() + p_ttl)
  on conflict (session_id) do update set expires_at = excluded.expires_at;
  return true;
end
$$;

-- Whether a login that leads nowhere is one that a connection lives on: nothing is revoked then.
create index accounts_by_broker_account on accounts (broker, broker_account_id);
