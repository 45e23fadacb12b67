-- compatible
-- Webhooks (decision 41): endpoints of platforms, how far each has received each user's log, and the attempts that were made.

create table webhook_endpoints (
  endpoint_id uuid primary key,
  platform_id uuid not null references platforms,
  url text not null,
  description text not null,
  -- JSON lists; null: all.
  topics text,
  order_statuses text,
  created_at timestamptz not null,
  disabled_at timestamptz,
  disabled_reason text,
  last_success_at timestamptz,
  failing_since timestamptz,
  revision int not null,
  -- What signs, sealed.
  keys bytea not null,
  keys_revision int not null,
  -- Null until a re-wrapping has looked at it.
  key_id text
);

create index webhook_endpoints_by_platform on webhook_endpoints (platform_id, created_at, endpoint_id);

create table webhook_cursors (
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  user_key uuid not null references users on delete cascade,
  -- Everything up to it was received or passed over.
  seq bigint not null,
  trying_to bigint,
  attempts int not null default 0,
  retry_at timestamptz,
  primary key (endpoint_id, user_key)
) with (fillfactor = 70);

create index webhook_cursors_by_user on webhook_cursors (user_key);

create table webhook_deliveries (
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  delivery_id uuid not null,
  -- Null: a test message.
  user_key uuid references users on delete cascade,
  message_id text collate "C" not null,
  started_at timestamptz not null,
  has_succeeded boolean not null,
  document text not null,
  primary key (endpoint_id, delivery_id)
);

create index webhook_deliveries_by_time on webhook_deliveries (endpoint_id, started_at, delivery_id);
create index webhook_deliveries_by_message on webhook_deliveries (message_id);
create index webhook_deliveries_by_user on webhook_deliveries (user_key) where user_key is not null;

-- Moves cursors and keeps attempts, as `webhooks/cursors.ts` gives them. Returns the places of those whose endpoint and user are there, from 0,
-- as a JSON list. A cursor never moves back: what an older attempt says of it is left out.
create function record_webhooks(p_steps text)
returns text
language plpgsql
as $$
#variable_conflict use_column
declare
  v_step record;
  v_found int[] := '{}';
begin
  for v_step in
    select * from json_to_recordset(p_steps::json) as step (
      place int, endpoint uuid, "user" uuid, seq bigint, "tryingTo" bigint, attempts int, "retryAt" timestamptz,
      delivery uuid, message text, "startedAt" timestamptz, "hasSucceeded" boolean, document text
    ) order by endpoint, "user"
  loop
    perform 1 from webhook_endpoints where endpoint_id = v_step.endpoint for key share;
    continue when not found;
    perform 1 from users where user_key = v_step."user" for key share;
    continue when not found;
    v_found := v_found || v_step.place;
    insert into webhook_cursors as known (endpoint_id, user_key, seq, trying_to, attempts, retry_at)
    values (v_step.endpoint, v_step."user", v_step.seq, v_step."tryingTo", v_step.attempts, v_step."retryAt")
    on conflict (endpoint_id, user_key) do update
      set seq = excluded.seq, trying_to = excluded.trying_to, attempts = excluded.attempts, retry_at = excluded.retry_at
      where known.seq <= excluded.seq;
    continue when v_step.delivery is null;
    insert into webhook_deliveries (endpoint_id, delivery_id, user_key, message_id, started_at, has_succeeded, document)
    values (v_step.endpoint, v_step.delivery, v_step."user", v_step.message, v_step."startedAt", v_step."hasSucceeded", v_step.document)
    on conflict (endpoint_id, delivery_id) do nothing;
    -- The row of an endpoint changes once a second at most while all is well: it is shared by all users.
    if v_step."hasSucceeded" then
      update webhook_endpoints set last_success_at = greatest(last_success_at, v_step."startedAt"), failing_since = null
      where endpoint_id = v_step.endpoint
        and (failing_since is not null or last_success_at is null or last_success_at < v_step."startedAt" - interval '1 second');
    else
      update webhook_endpoints set failing_since = v_step."startedAt" where endpoint_id = v_step.endpoint and failing_since is null;
    end if;
  end loop;
  return array_to_json(v_found)::text;
end
$$;
