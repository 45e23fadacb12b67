-- compatible
-- An attempt counts for the endpoint as it was tried (decision 41).

-- Moves cursors and keeps attempts, as `webhooks/cursors.ts` gives them. Returns the places of those whose endpoint and user are there, from 0,
-- as a JSON list. A cursor never moves back: what an older attempt says of it is left out. Of a step with a revision that is not the
-- endpoint's any more, the waits were ended meanwhile: the attempts and the retry are then the other ones.
create or replace function record_webhooks(p_steps text)
returns text
language plpgsql
as $$
#variable_conflict use_column
declare
  v_step record;
  v_revision int;
  v_found int[] := '{}';
begin
  for v_step in
    select * from json_to_recordset(p_steps::json) as step (
      place int, endpoint uuid, "user" uuid, seq bigint, "tryingTo" bigint, attempts int, "retryAt" timestamptz,
      revision int, "otherAttempts" int, "otherRetryAt" timestamptz, delivery uuid, message text, "startedAt" timestamptz, "hasSucceeded" boolean, document text
    ) order by endpoint, "user"
  loop
    select revision into v_revision from webhook_endpoints where endpoint_id = v_step.endpoint for key share;
    continue when not found;
    if v_step.revision <> v_revision then
      v_step.attempts := v_step."otherAttempts";
      v_step."retryAt" := v_step."otherRetryAt";
    end if;
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
