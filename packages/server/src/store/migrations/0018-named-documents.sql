-- breaking
-- Orders, and the events about them and about accounts, were arrays of values without names. They become objects with the domain's names. Values are
-- copied as text: `json` keeps escapes that `jsonb` refuses (NUL, half a surrogate pair), and decimals keep their written form.

-- Early versions did not write the last two values of an order, nor when a request was accepted: these are null.
create function pg_temp.named_order(p_values text) returns text language plpgsql as $$
declare
  v_values text[] := array(select value::text from json_array_elements(p_values::json));
begin
  if v_values[23] like '{%' and v_values[23] not like '%"takenAt":%' then
    v_values[23] := left(v_values[23], -1) || ',"takenAt":null}';
  end if;
  return format('{'
    '"orderId":%s,"clOrdId":%s,"tradingDay":%s,"platformId":%s,"userKey":%s,"userId":%s,"connectionId":%s,"accountId":%s,'
    '"accountNumber":%s,"broker":%s,"side":%s,"type":%s,"tif":%s,"symbol":%s,"instrument":%s,"quantity":%s,"notional":%s,'
    '"limitPrice":%s,"stopPrice":%s,"legs":%s,"status":%s,"submission":%s,"pendingRequest":%s,"brokerClOrdId":%s,"brokerOrderId":%s,'
    '"brokerStatus":%s,"brokerMessage":%s,"brokerOrderType":%s,"execDest":%s,"fills":%s,"entryTime":%s,"lastExecTime":%s,'
    '"lastModifiedTime":%s,"systemTime":%s,"replacesOrderId":%s,"replacedByOrderId":%s,"revision":%s,"previouslyFilledQuantity":%s,'
    '"rejectCode":%s}',
    variadic v_values || array_fill('null'::text, array[39 - cardinality(v_values)]));
end
$$;

create function pg_temp.named_account_event(p_values text) returns text language plpgsql as $$
begin
  return format('{"connectionId":%s,"accountNumber":%s,"data":%s}', variadic array(select value::text from json_array_elements(p_values::json)));
end
$$;

-- The trigger keeps the further symbols of final orders, which do not change here.
alter table orders disable trigger orders_enter_symbols;
update orders set document = pg_temp.named_order(document);
alter table orders enable trigger orders_enter_symbols;
update events set data = case topic
  when 'orders' then pg_temp.named_order(data)
  else pg_temp.named_account_event(data)
end;

-- As before (0011), with the legs by their name.
create or replace function further_symbols(p_symbol text, p_document text) returns text[] language sql immutable as $$
  with named as (
    select p_symbol collate "C" as symbol, false as further where p_symbol is not null
    union all
    select leg ->> 'symbol', true
    from jsonb_array_elements(
      case when p_symbol is null then nullif(replace(replace(p_document, '\\', '//'), '\u', '/u')::jsonb -> 'legs', 'null') end
    ) leg
  ), roots as (
    select left(symbol, -15) as root from named where symbol ~ '^[A-Z]{1,5}[0-9]?[0-9]{6}[CP][0-9]{8}$'
  )
  select array_agg(distinct symbol) from (
    select symbol from named where further
    union all select root from roots
    union all select rtrim(root, '0123456789') from roots
  ) all_of_them where symbol is not null
$$;

-- Orders for an operator's eyes: `select * from orders_readable where status = 'working'`. Escapes that `jsonb` refuses are shown as U+FFFD.
create view orders_readable as
select order_id, read ->> 'broker' as broker, read ->> 'accountNumber' as account_number, read ->> 'userId' as user_id, trading_day, cl_ord_id, broker_cl_ord_id,
  broker_order_id, status, symbol, side, read ->> 'type' as type, read ->> 'tif' as tif, read ->> 'instrument' as instrument,
  (read ->> 'quantity')::numeric as quantity, (read ->> 'notional')::numeric as notional, (read ->> 'limitPrice')::numeric as limit_price,
  (read ->> 'stopPrice')::numeric as stop_price, read -> 'legs' as legs, read -> 'fills' as fills, read -> 'submission' as submission,
  read -> 'pendingRequest' as pending_request, read ->> 'brokerStatus' as broker_status, read ->> 'brokerMessage' as broker_message,
  read ->> 'rejectCode' as reject_code, entry_time, nullif(last_exec_time, '-infinity') as last_exec_time, last_modified_time,
  (read ->> 'systemTime')::timestamptz as system_time, read ->> 'replacesOrderId' as replaces_order_id,
  read ->> 'replacedByOrderId' as replaced_by_order_id, revision, user_key, account_id, connection_id
from orders
cross join lateral (select regexp_replace(document, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'gi')::jsonb as read) parsed;

-- Stream sessions hold slots, as the program calls them.
alter table stream_places rename to stream_slots;
alter index stream_places_pkey rename to stream_slots_pkey;
alter index stream_places_by_platform rename to stream_slots_by_platform;
alter index stream_places_by_node rename to stream_slots_by_node;
alter index stream_places_by_key rename to stream_slots_by_key;
drop function take_stream_place(uuid, text, text, int, interval);
drop function take_key_stream_place(uuid, uuid, text, text, int, interval);

-- Takes one of the key's `p_limit` slots until `p_ttl` from now by this clock, or renews the session's slot. False when all are taken, or the
-- platform has no such key. The key's row is locked first, so that each caller sees the slots that callers before it took.
create function take_stream_slot(p_platform uuid, p_key uuid, p_session text, p_node text, p_limit int, p_ttl interval)
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
  -- A slot that ends later than any is taken for was renewed before the clock was set back. A row that is being renewed now has not expired.
  delete from stream_slots where session_id in (
    select session_id from stream_slots
    where coalesce(key_id, platform_id) = p_key
      and (expires_at <= clock_timestamp() or expires_at > clock_timestamp() + greatest(4 * p_ttl, interval '10 minutes'))
    for update skip locked
  );
  select count(*) into v_taken from stream_slots where coalesce(key_id, platform_id) = p_key and session_id <> p_session;
  if v_taken >= p_limit then
    return false;
  end if;
  insert into stream_slots (session_id, platform_id, key_id, node_id, expires_at)
  values (p_session, p_platform, p_key, p_node, clock_timestamp() + p_ttl)
  on conflict (session_id) do update set expires_at = excluded.expires_at;
  return true;
end
$$;
