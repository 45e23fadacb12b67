-- compatible
-- The API for operators (decision 42): what they prove themselves with, each by its hash, and what an order's steps are found by.

create table operator_codes (
  code_hash text collate "C" primary key,
  operator text not null,
  scopes text not null,
  expires_at timestamptz not null
);

create table operator_sessions (
  session_id uuid primary key,
  secret_hash text collate "C" not null unique,
  operator text not null,
  scopes text not null,
  -- How the operator proved who they are.
  origin text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);

create table operator_keys (
  key_id uuid primary key,
  secret_hash text collate "C" not null unique,
  name text not null,
  scopes text not null,
  created_by text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  expires_at timestamptz
);

-- Entries about orders by their target. The members of an entry have a fixed order and quotes in values are escaped, so the first match is
-- the entry's own.
create index audit_log_by_order on audit_log (substring(entry from '"target":"([^"]*)"'), position) where entry like '%"action":"order.%';

create index webhook_deliveries_by_user_and_time on webhook_deliveries (user_key, started_at, delivery_id) where user_key is not null;
drop index webhook_deliveries_by_user;
