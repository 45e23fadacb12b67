-- compatible
-- What an order is found by beside its own symbol: its legs, and the roots of its options (of AAPL1 also AAPL). Only orders of options have such.
-- An open order carries them in itself, so that it can move without touching an index; a final one enters a table of its own, with the
-- columns that lists of final orders are sorted by. What brokers write may be escaped as text that the database does not take (NUL, half a
-- character): escapes are spoiled before the document is read, since no symbol has any.
create function further_symbols(p_symbol text, p_document text) returns text[] language sql immutable as $$
  with named as (
    select p_symbol collate "C" as symbol, false as further where p_symbol is not null
    union all
    select leg ->> 'symbol', true
    from jsonb_array_elements(
      case when p_symbol is null then nullif(replace(replace(p_document, '\\', '//'), '\u', '/u')::jsonb -> 19, 'null') end
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

alter table orders add column further_symbols text[] collate "C";

create table order_symbols (
  order_id uuid not null,
  symbol text collate "C" not null,
  account_id uuid not null,
  final_status text collate "C" not null,
  entry_time timestamptz not null,
  final_modified_time timestamptz not null,
  final_exec_time timestamptz not null,
  primary key (order_id, symbol)
);

update orders set further_symbols = further_symbols(symbol, document) where symbol is null or length(symbol) > 15;
insert into order_symbols (order_id, symbol, account_id, final_status, entry_time, final_modified_time, final_exec_time)
select order_id, further, account_id, final_status, entry_time, final_modified_time, final_exec_time
from orders cross join lateral unnest(further_symbols) further
where final_status is not null;

create index order_symbols_by_entry on order_symbols (account_id, symbol, final_status, entry_time, order_id);
create index order_symbols_by_modified on order_symbols (account_id, symbol, final_status, final_modified_time, order_id);
create index order_symbols_by_exec on order_symbols (account_id, symbol, final_status, final_exec_time, order_id);
create index orders_of_account_by_cl_ord_id on orders (account_id, cl_ord_id);

-- The conditions of the triggers keep orders of everything else out of them: the symbol and the legs of an order never change.
create function set_further_symbols() returns trigger language plpgsql as $$
begin
  new.further_symbols := further_symbols(new.symbol, new.document);
  return new;
end
$$;
create trigger orders_name_symbols before insert on orders for each row
  when (new.symbol is null or length(new.symbol) > 15) execute function set_further_symbols();

create function enter_order_symbols() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into order_symbols (order_id, symbol, account_id, final_status, entry_time, final_modified_time, final_exec_time)
  select new.order_id, further, new.account_id, new.final_status, new.entry_time, new.final_modified_time, new.final_exec_time
  from unnest(new.further_symbols) further
  on conflict (order_id, symbol) do update set final_status = excluded.final_status, entry_time = excluded.entry_time,
    final_modified_time = excluded.final_modified_time, final_exec_time = excluded.final_exec_time;
  return null;
end
$$;
create trigger orders_enter_symbols after insert or update on orders for each row
  when (new.further_symbols is not null and new.final_status is not null) execute function enter_order_symbols();
