-- breaking
-- Several keys a platform, each with what it may be used for; and platforms, keys and users that are disabled. The first key of a platform has
-- the platform's own id and client id. A program that looks for secrets in `platforms` would let revoked ones in: hence breaking.
create table platform_keys (
  key_id uuid primary key,
  platform_id uuid not null references platforms on delete cascade,
  client_id text collate "C" not null unique,
  name text not null,
  scopes text not null,
  addresses text not null,
  secret_hash text not null,
  -- The secret before, while it is good as well.
  previous_hash text,
  previous_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  disabled_at timestamptz
);
create index platform_keys_by_platform on platform_keys (platform_id, created_at, key_id);
insert into platform_keys (key_id, platform_id, client_id, name, scopes, addresses, secret_hash, created_at)
select platform_id, platform_id, client_id, 'First key', '["read","trade","users"]', '[]', secret_hash, created_at from platforms;
alter table platforms drop column secret_hash;
alter table platforms add column disabled_at timestamptz;
alter table users add column disabled_at timestamptz;

-- The key a token was had with. Those of before were had with the only one there was.
alter table market_data_tokens add column key_id uuid;
update market_data_tokens set key_id = users.platform_id from users where users.user_key = market_data_tokens.user_key;
create index market_data_tokens_by_key on market_data_tokens (key_id);
create index market_data_tokens_by_user on market_data_tokens (user_key);
